// Paces attempts to connect: the first at once, then at growing intervals. So a peer that can cause attempts (the
// broker pushes each new endpoint of a topic) does not choose how often they happen.
#pragma once

#include <algorithm>
#include <chrono>

#include "base/clock.h"

namespace orc::detail {

// Not thread-safe.
class attempt_pace {
 public:
  static constexpr std::chrono::milliseconds shortest{250};
  static constexpr std::chrono::milliseconds longest{1000};
  static constexpr std::chrono::seconds calm{3};  // without an attempt: the intervals begin anew

  // When the next attempt may begin; the epoch: at once. Returns the same time again until that attempt has begun.
  [[nodiscard]] monotonic::time_point book(monotonic::time_point now) noexcept {
    if (booked_ > now) return booked_;
    if (now - booked_ >= calm) interval_ = {};
    booked_ = std::max(now, booked_ + interval_);
    interval_ = std::clamp(interval_ * 2, shortest, longest);
    return booked_ > now ? booked_ : monotonic::time_point{};
  }

 private:
  monotonic::time_point booked_;
  std::chrono::milliseconds interval_{0};
};

}  // namespace orc::detail
