// The one way to wait in a test: for a condition, with a deadline that only a failure reaches.
#pragma once

#include <poll.h>

#include <chrono>
#include <cstdint>
#include <thread>

#include "support/budget.h"

namespace orc::test {

template <class Condition>
[[nodiscard]] bool wait_until(Condition&& condition, std::chrono::milliseconds deadline = patience) {
  const auto end = std::chrono::steady_clock::now() + deadline;
  // What takes microseconds should not cost a millisecond each of ten thousand times.
  for (int n = 0; n < 100 && std::chrono::steady_clock::now() < end; ++n) {
    if (condition()) return true;
    std::this_thread::yield();
  }
  while (std::chrono::steady_clock::now() < end) {
    if (condition()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return static_cast<bool>(condition());
}

[[nodiscard]] inline std::int64_t ms_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - start).count();
}

// poll(2) for reading.
[[nodiscard]] inline bool readable(int fd, int timeout_ms) {
  pollfd entry{fd, POLLIN, 0};
  return ::poll(&entry, 1, timeout_ms) == 1 && (entry.revents & POLLIN) != 0;
}

// A reader that is busy with something else: uses the processor, as real work does, so no scheduler trick hides it.
inline void work_for(std::chrono::microseconds duration) {
  const auto end = std::chrono::steady_clock::now() + duration;
  while (std::chrono::steady_clock::now() < end) {
  }
}

}  // namespace orc::test
