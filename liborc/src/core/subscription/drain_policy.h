// Tracks whether the user of a subscription receives from it. While the user does, the housekeeping leaves the link
// alone, so that no sample wakes two threads. While the user is away, the housekeeping empties the link, so that
// nothing piles up (liborc/doc/contract.md, promise 3).
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>

#include "base/clock.h"

namespace orc::detail {

// Not thread-safe: the subscription serialises.
class drain_policy {
 public:
  static constexpr std::chrono::milliseconds min_look_interval{10};
  static constexpr std::chrono::milliseconds max_look_interval{100};
  static constexpr std::chrono::milliseconds drain_interval{2};  // at most 500 wake-ups a second for an absent user

  void user_came() noexcept { ++visits_; }

  // Returns whether the housekeeping should empty the link now. `user_waits`: in a receive, or with a descriptor in its
  // own event loop.
  [[nodiscard]] bool should_drain(monotonic::time_point now, bool user_waits) noexcept {
    const bool came = visits_ != seen_visits_;
    seen_visits_ = visits_;
    if (came) {
      absent_ = false;
      look_every_ = min_look_interval;
      next_ = now + look_every_;
      return false;
    }
    if (absent_ && !user_waits) return now >= next_;
    if (now < next_) return false;
    if (user_waits) {
      absent_ = false;
      look_every_ = std::min(look_every_ * 2, max_look_interval);
      next_ = now + look_every_;
    } else {
      absent_ = true;
    }
    return true;
  }

  void drained(monotonic::time_point now, bool found_samples) noexcept {
    if (absent_)
      next_ = found_samples ? now + drain_interval : now;
    else if (found_samples)
      look_every_ = min_look_interval;
  }

  [[nodiscard]] bool user_is_away() const noexcept { return absent_; }
  // True: watch the link's descriptor, from next() on.
  [[nodiscard]] bool watch(monotonic::time_point now) const noexcept { return absent_ && now >= next_; }
  // When to look again at the latest; nothing: when the descriptor is readable.
  [[nodiscard]] std::optional<monotonic::time_point> next(monotonic::time_point now) const noexcept {
    if (watch(now)) return std::nullopt;
    return next_;
  }

 private:
  std::uint64_t visits_ = 0;
  std::uint64_t seen_visits_ = 0;
  bool absent_ = false;
  std::chrono::milliseconds look_every_ = min_look_interval;
  monotonic::time_point next_;
};

}  // namespace orc::detail
