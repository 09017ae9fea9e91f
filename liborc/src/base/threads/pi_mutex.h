// A mutex with priority inheritance: while a thread waits for it, its owner runs with the priority of that thread. So a
// thread of middle priority cannot keep a real-time thread waiting. liborc/doc/design/real-time.md says why.
#pragma once

#include <linux/futex.h>

#include <atomic>
#include <cstdint>

#include "base/threads/thread_id.h"

namespace orc::detail {

// Of one process, not recursive. Use it with std::lock_guard and std::unique_lock. A lock and an unlock that no other
// thread meets are one atomic step each. The kernel passes the mutex from thread to thread, by priority.
//
// Only for what a send or a receive can meet: a std::condition_variable needs a std::mutex.
class pi_mutex {
 public:
  pi_mutex() = default;
  pi_mutex(const pi_mutex&) = delete;
  pi_mutex& operator=(const pi_mutex&) = delete;

  void lock() noexcept {
    if (!try_lock()) [[unlikely]]
      wait();
  }
  [[nodiscard]] bool try_lock() noexcept {
    std::uint32_t nobody = 0;
    return owner_.compare_exchange_strong(nobody, thread_id(), std::memory_order_acquire, std::memory_order_relaxed);
  }
  void unlock() noexcept {
    std::uint32_t own = owner_.load(std::memory_order_relaxed) & FUTEX_TID_MASK;
    if (!owner_.compare_exchange_strong(own, 0, std::memory_order_release, std::memory_order_relaxed)) [[unlikely]]
      pass_on();
  }

 private:
  void wait() noexcept;
  void pass_on() noexcept;

  // The kernel's format: the owner's thread id, and a bit when others wait. 0: free.
  std::atomic<std::uint32_t> owner_{0};
};

}  // namespace orc::detail
