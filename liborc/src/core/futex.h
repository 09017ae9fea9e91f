// The futex system call: sleeping on a word until somebody changes it.
#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <ctime>

namespace orc::detail {

static_assert(sizeof(std::atomic<std::uint32_t>) == sizeof(std::uint32_t), "the futex word is the atomic");

// Who sleeps on the word: threads of this process, or of any that has its memory mapped.
enum class futex_scope : int { process = FUTEX_PRIVATE_FLAG, shared = 0 };

// Until a wake-up, the time limit (null: none), a signal, or for no reason; at once when `word` is not `expected`.
inline void futex_wait(const std::atomic<std::uint32_t>& word, std::uint32_t expected, const timespec* limit,
                       futex_scope scope) noexcept {
  ::syscall(SYS_futex, &word, FUTEX_WAIT | static_cast<int>(scope), expected, limit, nullptr, 0);
}

inline void futex_wake(const std::atomic<std::uint32_t>& word, int sleepers, futex_scope scope) noexcept {
  ::syscall(SYS_futex, &word, FUTEX_WAKE | static_cast<int>(scope), sleepers, nullptr, nullptr, 0);
}

}  // namespace orc::detail
