// Times of the protocol.
#pragma once

#include <chrono>
#include <cstdint>

namespace orc::web {

// CLOCK_REALTIME, in ns since the Unix epoch.
[[nodiscard]] inline std::int64_t realtime_ns() noexcept {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch())
      .count();
}

// CLOCK_MONOTONIC, in ns.
[[nodiscard]] inline std::int64_t monotonic_ns(std::chrono::steady_clock::time_point when) noexcept {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(when.time_since_epoch()).count();
}

}  // namespace orc::web
