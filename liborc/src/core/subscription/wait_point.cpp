#include "core/subscription/wait_point.h"

#include <poll.h>
#include <sys/epoll.h>

#include <utility>

#include "base/threads/spinning.h"

namespace orc::detail {

bool wait_point::can_watch(const subscriber_link& link) const noexcept { return link.fd() < 0 || bell_->fd() >= 0; }

void wait_point::watch(subscriber_link& link) noexcept {
  link_ = &link;
  poll_for_user(link.fd(), true);
  if (user_fd_) ask_for_alerts();
  ring();  // waiting threads look at the new link
}

void wait_point::watch(int links) noexcept {
  poll_for_user(links_, false);
  links_ = links;
  poll_for_user(links_, true);
  ring();
}

void wait_point::forget(std::shared_ptr<subscriber_link> link) noexcept {
  poll_for_user(link->fd(), false);
  poll_for_user(std::exchange(alert_, -1), false);
  ring();
  link_ = nullptr;
  if (leader_ && !forgotten_) forgotten_ = std::move(link);
}

void wait_point::link_is_lost() noexcept { poll_for_user(link_->fd(), false); }

void wait_point::poll_alerts() noexcept {
  const sleeper* const where = link_->sleeper();
  if (where == nullptr || where->alert_fd() < 0) return;
  alert_ = where->alert_fd();
  poll_for_user(alert_, true);
  ring();  // for earlier samples
}

void wait_point::ask_for_alerts() noexcept {
  if (sleeper* const where = link_->sleeper()) where->want_alerts();
}

void wait_point::wait(std::unique_lock<pi_mutex>& lock, std::uint32_t ticket, const deadline& until) noexcept {
  if (spin_.count() != 0 && look_out(lock, ticket, until.or_at(monotonic::now() + spin_))) return;
  const auto [where, descriptor] = watched();
  const bool lead = !leader_ && (where != nullptr || descriptor >= 0);
  ++waiting_;
  if (lead) leader_ = true;
  if (lead && where != nullptr) {
    sleep_in(*where, lock, ticket, until);
  } else {
    lock.unlock();
    if (lead)
      bell_->wait_or_readable(descriptor, until);
    else
      bell_->wait(ticket, until);
    lock.lock();
  }
  --waiting_;
  if (lead) leave();
}

bool wait_point::look_out(std::unique_lock<pi_mutex>& lock, std::uint32_t ticket, const deadline& until) noexcept {
  if (leader_) return false;
  if (bell_->ticket() != ticket) return true;
  const auto [where, descriptor] = watched();
  ++waiting_;
  leader_ = true;
  if (where != nullptr) where->before_look_out();
  lock.unlock();
  const bool news = where != nullptr ? where->look_out(until) : look_at(descriptor, ticket, until);
  lock.lock();
  --waiting_;
  leave();
  return news;
}

// Without the lock.
bool wait_point::look_at(int descriptor, std::uint32_t ticket, const deadline& until) const noexcept {
  for (;;) {
    for (int n = 0; n < looks_per_clock; ++n) {
      if (bell_->ticket() != ticket) return true;
      if (descriptor >= 0) break;
      pause();
    }
    pollfd watched{.fd = descriptor, .events = POLLIN, .revents = 0};
    if (descriptor >= 0 && ::poll(&watched, 1, 0) > 0) return true;
    if (until.passed()) return false;
  }
}

wait_point::place wait_point::watched() const noexcept {
  const bool alive = link_ != nullptr && link_->state() != link_state::lost;
  return {alive ? link_->sleeper() : nullptr, alive ? link_->fd() : links_};
}

void wait_point::leave() noexcept {
  leader_ = false;
  forgotten_.reset();
  if (waiting_ != 0) bell_->ring();
}

// Rings need the lock, except those for links without a sleeper. So a ring comes before a look at the bell here, or it
// wakes the sleeper.
void wait_point::sleep_in(sleeper& where, std::unique_lock<pi_mutex>& lock, std::uint32_t ticket,
                          const deadline& until) noexcept {
  if (bell_->ticket() != ticket || !where.arm()) return;
  lock.unlock();
  where.sleep(until);
  lock.lock();
  where.disarm();
}

void wait_point::ring() noexcept {
  bell_->ring();
  if (!leader_ || link_ == nullptr) return;
  if (sleeper* const where = link_->sleeper()) where->wake();
}

int wait_point::fd() noexcept {
  if (user_fd_) return user_fd_.get();
  const int bell = bell_->fd();
  if (bell < 0) return -1;
  user_fd_.reset(epoll_create1(EPOLL_CLOEXEC));
  poll_for_user(bell, true);
  if (link_ != nullptr) {
    poll_for_user(link_->fd(), true);
    ask_for_alerts();
  }
  poll_for_user(links_, true);
  ring();  // a sample may be here already
  return user_fd_.get();
}

void wait_point::poll_for_user(int descriptor, bool poll) noexcept {
  if (!user_fd_ || descriptor < 0) return;
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.fd = descriptor;
  epoll_ctl(user_fd_.get(), poll ? EPOLL_CTL_ADD : EPOLL_CTL_DEL, descriptor, &event);
}

}  // namespace orc::detail
