// Threads wait here for a ring of another thread.
#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <climits>
#include <cstdint>
#include <ctime>

namespace orc::detail {

using steady = std::chrono::steady_clock;

// Any thread. Use: take a ticket under the lock of what is waited for, look, release the lock, wait with the ticket. A
// ring after the ticket was taken ends the wait.
class wakeup {
 public:
  [[nodiscard]] std::uint32_t ticket() const noexcept { return rings_.load(std::memory_order_acquire); }
  void ring() noexcept {
    rings_.fetch_add(1, std::memory_order_release);
    syscall(SYS_futex, &rings_, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
  }
  // May return early.
  void wait(std::uint32_t ticket, steady::time_point until) noexcept {
    const auto left = std::chrono::duration_cast<std::chrono::nanoseconds>(until - steady::now()).count();
    if (left <= 0) return;
    const timespec relative{.tv_sec = left / 1'000'000'000, .tv_nsec = left % 1'000'000'000};
    syscall(SYS_futex, &rings_, FUTEX_WAIT_PRIVATE, ticket, &relative, nullptr, 0);
    (void)rings_.load(std::memory_order_acquire);
  }

 private:
  std::atomic<std::uint32_t> rings_{0};
};

}  // namespace orc::detail
