// Limits what a peer may send besides the link's purpose: link messages, commands, nonsense. Honest peers send little.
// A peer that sends more costs time that others need, at any pace. schemas/PROTOCOL.md has the limits.
#pragma once

#include <cstdint>

#include "base/clock.h"

namespace orc::detail {

// Not thread-safe.
class allowance {
 public:
  static constexpr std::uint64_t at_once = 200;

  // `per_s`: how many more for each second of the connection's life.
  explicit allowance(std::uint64_t per_s) noexcept : per_s_(per_s) {}

  // Counts `things` more. True: the peer exceeded its allowance.
  [[nodiscard]] bool exceeded_by(std::uint64_t things) noexcept {
    said_ += things;
    if (said_ <= at_once) return false;
    const auto age_s = std::chrono::duration_cast<std::chrono::seconds>(monotonic::now() - since_).count();
    return said_ > at_once + per_s_ * static_cast<std::uint64_t>(age_s);
  }
  // True after the last one that was allowed.
  void refund() noexcept { --said_; }

  [[nodiscard]] monotonic::time_point since() const noexcept { return since_; }

 private:
  std::uint64_t per_s_;
  monotonic::time_point since_ = monotonic::now();
  std::uint64_t said_ = 0;
};

}  // namespace orc::detail
