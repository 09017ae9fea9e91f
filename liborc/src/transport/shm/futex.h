// The futex system call on a word that several processes share.
#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <ctime>

namespace orc::detail::shm {

// Until a wake-up, the time limit (null: none), a signal, or for no reason; at once when `word` is not `expected`.
inline void futex_wait(const std::atomic<std::uint32_t>& word, std::uint32_t expected, const timespec* limit) noexcept {
  ::syscall(SYS_futex, &word, FUTEX_WAIT, expected, limit, nullptr, 0);
}

// One sleeper: more there are only where somebody wants to cost us time.
inline void futex_wake(std::atomic<std::uint32_t>& word) noexcept {
  ::syscall(SYS_futex, &word, FUTEX_WAKE, 1, nullptr, nullptr, 0);
}

// Counts and wakes: whoever read the word before does not sleep.
inline void ring(std::atomic<std::uint32_t>& word) noexcept {
  word.fetch_add(1);
  futex_wake(word);
}

}  // namespace orc::detail::shm
