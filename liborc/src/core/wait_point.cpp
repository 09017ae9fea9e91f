#include "core/wait_point.h"

#include <sys/epoll.h>

#include <utility>

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

void wait_point::wait(std::unique_lock<std::mutex>& lock, std::uint32_t ticket, const deadline& until) noexcept {
  const bool alive = link_ != nullptr && link_->state() != link_state::lost;
  sleeper* const where = alive ? link_->sleeper() : nullptr;
  const int descriptor = alive ? link_->fd() : links_;
  const bool lead = !leader_ && (where != nullptr || descriptor >= 0);
  ++waiting_;
  if (lead) leader_ = true;
  if (lead && where != nullptr) {
    wait_in(*where, lock, ticket, until);
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
  forgotten_.reset();
  if (waiting_ != 0) bell_->ring();
}

// Rings need the lock, except those for links without a sleeper. So a ring comes before a look at the bell here, or it
// wakes the sleeper.
void wait_point::wait_in(sleeper& where, std::unique_lock<std::mutex>& lock, std::uint32_t ticket,
                         const deadline& until) noexcept {
  if (spin_.count() != 0 && bell_->ticket() == ticket) {
    where.before_look_out();
    lock.unlock();
    const bool news = where.look_out(spin_, until);
    lock.lock();
    if (news) return;
  }
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
