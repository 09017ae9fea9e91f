#include "base/threads/pi_mutex.h"

#include <chrono>
#include <thread>

#include "base/threads/futex.h"

namespace orc::detail {

namespace {

constexpr auto between_attempts = std::chrono::microseconds(50);

[[nodiscard]] bool call(std::atomic<std::uint32_t>& word, int operation) noexcept {
  return ::syscall(SYS_futex, &word, operation | static_cast<int>(futex_scope::process), 0, nullptr, nullptr, 0) == 0;
}

}  // namespace

// It fails without support in the kernel, and for a moment while the owner's state changes.
void pi_mutex::wait() noexcept {
  while (!call(owner_, FUTEX_LOCK_PI)) {
    std::this_thread::sleep_for(between_attempts);
    if (try_lock()) return;
  }
  (void)owner_.load(std::memory_order_acquire);  // for ThreadSanitizer, which does not see what the kernel does
}

void pi_mutex::pass_on() noexcept {
  owner_.fetch_or(0, std::memory_order_release);  // for ThreadSanitizer
  (void)call(owner_, FUTEX_UNLOCK_PI);
}

}  // namespace orc::detail
