// What predictive waiting has done for a subscription (orc/options.h, wait::predictive).
#pragma once

#include <cstdint>

namespace orc {

// Counters since the subscription was made.
struct prediction_info {
  std::int64_t period_ns = 0;    // of the stream; 0: none was found
  std::uint64_t hits = 0;        // samples that a watching thread saw come
  std::uint64_t early = 0;       // samples that came before that, during a sleep
  std::uint64_t misses = 0;      // times that a thread watched, and the sample did not come in time
  std::uint64_t watched_ns = 0;  // time of a core that was spent on watching

  // Whether all fields are equal.
  bool operator==(const prediction_info&) const = default;
};

}  // namespace orc
