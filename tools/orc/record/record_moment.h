// A moment by both clocks.
#pragma once

#include <cstdint>

namespace orc::cli {

// The wall clock names a moment for people and for the file. It can be set, so intervals are taken from the other one.
struct record_moment {
  std::int64_t wall_ns = 0;    // CLOCK_REALTIME: since the Unix epoch
  std::int64_t steady_ns = 0;  // CLOCK_MONOTONIC

  [[nodiscard]] static record_moment now() noexcept;
};

}  // namespace orc::cli
