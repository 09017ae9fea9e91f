#include "base/threads/doorbell.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <climits>

#include "base/threads/futex.h"

namespace orc::detail {

doorbell::~doorbell() {
  if (const int fd = fd_.load(); fd >= 0) ::close(fd);
}

// Both sides are sequentially consistent. A waiter adds itself and then looks at rings_ (in the kernel, or by finding
// the eventfd readable). A ringer changes rings_ and then looks for waiters. So one of the two sees the other.
void doorbell::ring() noexcept {
  rings_.fetch_add(1);
  if (sleepers_.load() != 0) futex_wake(rings_, INT_MAX, futex_scope::process);
  if (const int fd = fd_.load(); fd >= 0) {
    eventfd_write(fd, 1);
    readable_.store(true);  // after the write: a clear in between has no effect, and the next one clears
  }
}

void doorbell::wait(std::uint32_t ticket, const deadline& until) noexcept {
  const auto left = until.left();
  // The kernel would sleep for the timer slack all the same.
  if (left && left->tv_sec == 0 && left->tv_nsec == 0) return;
  sleepers_.fetch_add(1);
  futex_wait(rings_, ticket, left ? &*left : nullptr, futex_scope::process);
  sleepers_.fetch_sub(1);
}

void doorbell::wait_or_readable(int other_fd, const deadline& until) noexcept {
  pollfd watched[] = {{other_fd, POLLIN, 0}, {fd_.load(), POLLIN, 0}};
  const auto left = until.left();
  ppoll(watched, 2, left ? &*left : nullptr, nullptr);
}

int doorbell::fd() noexcept {
  if (const int fd = fd_.load(); fd >= 0) return fd;
  const int made = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (made < 0) return -1;
  int none = -1;
  if (fd_.compare_exchange_strong(none, made)) return made;
  ::close(made);
  return none;
}

void doorbell::clear() noexcept {
  if (!readable_.load(std::memory_order_relaxed) || !readable_.exchange(false)) return;
  eventfd_t count = 0;
  eventfd_read(fd_.load(), &count);
}

}  // namespace orc::detail
