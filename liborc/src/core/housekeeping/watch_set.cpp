#include "core/housekeeping/watch_set.h"

#include <poll.h>
#include <sys/epoll.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <iterator>

namespace orc::detail {

watch_set::watch_set() : epoll_(epoll_create1(EPOLL_CLOEXEC)) {}

bool watch_set::arm(int fd, watched_topic* owner) {
  const auto [first, last] = owners_.equal_range(fd);
  if (std::none_of(first, last, [&](const auto& each) { return each.second == owner; })) owners_.emplace(fd, owner);
  epoll_event wanted{};
  wanted.events = EPOLLIN | EPOLLONESHOT;
  wanted.data.fd = fd;
  if (epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, fd, &wanted) == 0) return true;
  if (errno == ENOENT && epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &wanted) == 0) return true;
  return errno == EBADF;  // the owner's user closed it just now, and the owner goes
}

void watch_set::drop(int fd, const watched_topic* owner) noexcept {
  const auto [first, last] = owners_.equal_range(fd);
  const auto mine = std::find_if(first, last, [&](const auto& each) { return each.second == owner; });
  if (mine == last) return;
  const bool was_last = std::next(first) == last;
  owners_.erase(mine);
  if (was_last) (void)epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, fd, nullptr);  // fails when it is closed
  told_ = 0;                                                                // the other owners may have moved up
}

void watch_set::wait(monotonic::time_point until) noexcept {
  if (next_ < count_) return;
  count_ = next_ = told_ = 0;
  // epoll_wait counts in milliseconds.
  pollfd itself{epoll_.get(), POLLIN, 0};
  const auto limit = deadline(until).left();
  if (ppoll(&itself, 1, &*limit, nullptr) <= 0) return;
  std::array<epoll_event, max_events> events{};
  const int count = epoll_wait(epoll_.get(), events.data(), static_cast<int>(max_events), 0);
  for (int i = 0; i < count; ++i) ready_[count_++] = events[static_cast<std::size_t>(i)].data.fd;
}

std::optional<watch_set::event> watch_set::next() noexcept {
  for (; next_ < count_; ++next_, told_ = 0) {
    const auto [first, last] = owners_.equal_range(ready_[next_]);
    if (told_ < static_cast<std::size_t>(std::distance(first, last)))
      return event{ready_[next_], std::next(first, static_cast<std::ptrdiff_t>(told_++))->second};
  }
  return std::nullopt;
}

}  // namespace orc::detail
