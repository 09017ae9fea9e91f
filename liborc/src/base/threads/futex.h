// The futex system call: sleep on a word until another thread changes it.
#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <ctime>

namespace orc::detail {

static_assert(sizeof(std::atomic<std::uint32_t>) == sizeof(std::uint32_t), "the futex word is the atomic");

// Which threads may sleep on the word: those of this process, or those of any process that maps its memory.
enum class futex_scope : int { process = FUTEX_PRIVATE_FLAG, shared = 0 };

// Sleeps until a wake-up, the time limit (null: none) or a signal. May return early. Returns at once when `word` is not
// `expected`.
inline void futex_wait(const std::atomic<std::uint32_t>& word, std::uint32_t expected, const timespec* limit,
                       futex_scope scope) noexcept {
  ::syscall(SYS_futex, &word, FUTEX_WAIT | static_cast<int>(scope), expected, limit, nullptr, 0);
}

inline void futex_wake(const std::atomic<std::uint32_t>& word, int sleepers, futex_scope scope) noexcept {
  ::syscall(SYS_futex, &word, FUTEX_WAKE | static_cast<int>(scope), sleepers, nullptr, nullptr, 0);
}

}  // namespace orc::detail
