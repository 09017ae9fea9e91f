// How threads and the user's event loop wait for a subscription.
#include <sys/epoll.h>

#include "base/fork_generation.h"
#include "core/subscription.h"

namespace orc::detail {

// One thread polls the link's descriptor. Further ones sleep on the bell, and it rings when that thread leaves.
void subscription::wait(std::unique_lock<std::mutex>& lock, std::uint32_t ticket, const deadline& until) noexcept {
  if (!leader_ && waited_for_ != link_) waited_for_ = link_;  // keeps it open while a thread waits on it
  subscriber_link* const link = link_.get();
  const bool alive = link && link->state() != link_state::lost;
  sleeper* const place = alive ? link->sleeper() : nullptr;
  const int descriptor = alive ? link->fd() : -1;
  const bool lead = !leader_ && (place != nullptr || descriptor >= 0);
  ++waiting_;
  if (lead) leader_ = true;
  if (lead && place != nullptr) {
    wait_in(*place, lock, until);
  } else {
    lock.unlock();
    if (lead)
      bell_->wait_or_readable(descriptor, until);
    else
      bell_->wait(ticket, until);
    lock.lock();
  }
  --waiting_;
  if (!lead) return;
  leader_ = false;
  if (waited_for_ != link_) waited_for_.reset();
  if (waiting_ != 0) bell_->ring();
}

void subscription::wait_in(sleeper& where, std::unique_lock<std::mutex>& lock, const deadline& until) noexcept {
  if (options_.spin_us != 0) {
    where.before_look_out();
    lock.unlock();
    const bool news = where.look_out(std::chrono::microseconds(options_.spin_us), until);
    lock.lock();
    if (news || waited_for_ != link_) return;  // a link that was dropped meanwhile does not ring
  }
  if (!where.arm()) return;
  lock.unlock();
  where.sleep(until);
  lock.lock();
  where.disarm();
}

// Wakes all threads that wait for this subscription, on the bell or the link.
void subscription::ring() noexcept {
  bell_->ring();
  if (sleeper* const place = leader_ && link_ ? link_->sleeper() : nullptr) place->wake();
}

result subscription::wait_connected(int timeout_ms) noexcept {
  if (timeout_ms < -1) return errc::bad_argument;
  if (generation_ != fork_generation()) return errc::forked;
  const deadline until(timeout_ms);
  for (;;) {
    const std::uint32_t ticket = bell_->ticket();
    {
      const std::lock_guard lock(mutex_);
      if (closed_) return errc::closed;
      if (has_link()) return {};
    }
    if (timeout_ms == 0 || until.passed()) return errc::timed_out;
    bell_->wait(ticket, until);
  }
}

int subscription::fd() noexcept {
  if (generation_ != fork_generation()) return -1;
  const std::lock_guard lock(mutex_);
  if (user_fd_ || closed_) return user_fd_.get();
  const int bell = bell_->fd();
  if (bell < 0) return -1;
  user_fd_.reset(epoll_create1(EPOLL_CLOEXEC));
  watch_for_user(bell, true);
  if (link_) {
    watch_for_user(link_->fd(), true);
    link_->want_alerts();
  }
  ring();  // a sample may be here already
  return user_fd_.get();
}

void subscription::watch_for_user(int descriptor, bool watch) noexcept {
  if (!user_fd_ || descriptor < 0) return;
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.fd = descriptor;
  epoll_ctl(user_fd_.get(), watch ? EPOLL_CTL_ADD : EPOLL_CTL_DEL, descriptor, &event);
}

// Some links make a descriptor for the user only on request.
void subscription::watch_alerts() noexcept {
  const int alerts = link_->alert_fd();
  if (!user_fd_ || alerts < 0 || watched_alert_ >= 0) return;
  watched_alert_ = alerts;
  watch_for_user(alerts, true);
  ring();  // for earlier samples
}

}  // namespace orc::detail
