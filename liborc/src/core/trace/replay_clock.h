// When the calls of a replay are due.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>

#include "wire/replay_control.h"
#include "wire/trace_format.h"

namespace orc::detail {

// At the original pace a call is due as long after the first one as then. The times come from a trace, which can have
// any. One thread at a time.
class replay_clock {
 public:
  using moment = std::chrono::steady_clock::time_point;

  void set(wire::replay_pace pace, std::int64_t first_at_ns) noexcept {
    pace_ = pace;
    first_at_ns_ = first_at_ns;
  }
  // With the first call.
  void start() noexcept {
    if (!began_) began_ = std::chrono::steady_clock::now();
  }
  // Nothing: at once.
  [[nodiscard]] std::optional<moment> due(std::int64_t at_ns) const noexcept {
    if (pace_ == wire::replay_pace::fast || !began_) return std::nullopt;
    std::int64_t since = 0;
    if (__builtin_sub_overflow(at_ns, first_at_ns_, &since)) since = at_ns < 0 ? 0 : wire::trace_longest_ns;
    return *began_ + std::chrono::nanoseconds(std::clamp<std::int64_t>(since, 0, wire::trace_longest_ns));
  }

 private:
  wire::replay_pace pace_ = wire::replay_pace::fast;
  std::int64_t first_at_ns_ = 0;
  std::optional<moment> began_;
};

}  // namespace orc::detail
