// The clock of every benchmark: CLOCK_MONOTONIC in ns, the same in all processes of one host.
#pragma once

#include <cstdint>
#include <ctime>

namespace orc::bench {

inline std::int64_t clock_ns(clockid_t clock) noexcept {
  timespec t{};
  ::clock_gettime(clock, &t);
  return t.tv_sec * std::int64_t{1'000'000'000} + t.tv_nsec;
}

inline std::int64_t now_ns() noexcept { return clock_ns(CLOCK_MONOTONIC); }

// Sleeps until `deadline_ns` of now_ns(); for senders with a rate.
inline void sleep_until_ns(std::int64_t deadline_ns) noexcept {
  const timespec t{static_cast<time_t>(deadline_ns / 1'000'000'000), static_cast<long>(deadline_ns % 1'000'000'000)};
  while (::clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, nullptr) == 4 /* EINTR */ && now_ns() < deadline_ns) {
  }
}

}  // namespace orc::bench
