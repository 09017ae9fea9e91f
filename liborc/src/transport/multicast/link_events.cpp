#include "transport/multicast/link_events.h"

#include <sys/epoll.h>
#include <sys/timerfd.h>

namespace orc::detail::multicast {

namespace {

[[nodiscard]] bool control(int events, int operation, int fd, std::uint32_t interest) noexcept {
  epoll_event event{};
  event.events = interest;
  event.data.fd = fd;
  return ::epoll_ctl(events, operation, fd, &event) == 0;
}

}  // namespace

bool link_events::open(int socket) noexcept {
  socket_ = socket;
  timer_.reset(::timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC));
  events_.reset(::epoll_create1(EPOLL_CLOEXEC));
  return timer_ && events_ && control(events_.get(), EPOLL_CTL_ADD, socket, EPOLLIN) &&
         control(events_.get(), EPOLL_CTL_ADD, timer_.get(), EPOLLIN);
}

void link_events::watch_for_input(bool wanted) noexcept {
  (void)control(events_.get(), EPOLL_CTL_MOD, socket_, wanted ? EPOLLIN : 0u);
}

void link_events::watch_for_room(int socket, bool wanted) noexcept {
  (void)control(events_.get(), wanted ? EPOLL_CTL_ADD : EPOLL_CTL_DEL, socket, EPOLLOUT);
}

void link_events::wake_at(monotonic::time_point when) noexcept {
  const bool never = when == monotonic::time_point::max();
  const auto at = never ? std::chrono::nanoseconds(0) : std::chrono::nanoseconds(when.time_since_epoch());
  itimerspec setting{};
  setting.it_value.tv_sec = static_cast<time_t>(at.count() / 1'000'000'000);
  setting.it_value.tv_nsec = static_cast<long>(at.count() % 1'000'000'000);
  ::timerfd_settime(timer_.get(), TFD_TIMER_ABSTIME, &setting, nullptr);
}

link_events::ready link_events::take() noexcept {
  epoll_event happened[3];
  const int count = ::epoll_wait(events_.get(), happened, 3, 0);
  ready found;
  for (int i = 0; i < count; ++i) {
    const int fd = happened[i].data.fd;
    std::uint64_t expirations = 0;
    if (fd == timer_.get())
      (void)!::read(fd, &expirations, sizeof expirations);
    else if (fd == socket_)
      found.input = true;
    else
      found.room = true;
  }
  return found;
}

}  // namespace orc::detail::multicast
