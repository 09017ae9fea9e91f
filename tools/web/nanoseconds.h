// Times in nanoseconds.
#pragma once

#include <chrono>
#include <cstdint>
#include <limits>

#include "base/clock.h"

namespace orc::web {

using detail::realtime_ns;

// `later_ns` minus `earlier_ns`, limited to the range of the type: samples and recordings may have any stamp.
[[nodiscard]] inline std::int64_t span_ns(std::int64_t earlier_ns, std::int64_t later_ns) noexcept {
  std::int64_t span = 0;
  if (!__builtin_sub_overflow(later_ns, earlier_ns, &span)) return span;
  return earlier_ns < 0 ? std::numeric_limits<std::int64_t>::max() : std::numeric_limits<std::int64_t>::min();
}

// CLOCK_MONOTONIC, in ns.
[[nodiscard]] inline std::int64_t monotonic_ns(std::chrono::steady_clock::time_point when) noexcept {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(when.time_since_epoch()).count();
}

}  // namespace orc::web
