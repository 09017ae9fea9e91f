// Decides what follows when the broker reports that a publication ended. Its last samples may still be on their way. It
// may also have lost the broker only, and go on sending.
#pragma once

#include <cstdint>
#include <optional>

#include "base/clock.h"

namespace orc::detail {

// Not thread-safe: the subscription serialises.
class departure {
 public:
  static constexpr auto on_the_way = std::chrono::milliseconds(500);  // samples that it sent before it ended
  static constexpr auto second_look = std::chrono::milliseconds(1000);
  static constexpr auto link_outlives = std::chrono::milliseconds(3000);  // the publication, or its last sample

  void begin(monotonic::time_point now) noexcept {
    forget();
    at_ = now;
  }
  void forget() noexcept {
    at_.reset();
    received_.reset();
    sends_on_ = false;
  }
  // True while the broker reports the end.
  [[nodiscard]] bool is_said() const noexcept { return at_.has_value(); }
  // True: samples still arrive.
  [[nodiscard]] bool sends_on() const noexcept { return sends_on_; }
  [[nodiscard]] bool is_overdue(monotonic::time_point now) const noexcept { return at_ && now - *at_ >= link_outlives; }

  // `received`: how many samples came so far.
  void look(monotonic::time_point now, std::uint64_t received) noexcept {
    if (!at_ || now - *at_ < on_the_way) return;
    if (!received_) received_ = received;
    if (*received_ == received) return;
    received_ = received;
    sends_on_ = true;
    at_ = now;
  }
  // When to look again, after `now`.
  [[nodiscard]] std::optional<monotonic::time_point> next_look(monotonic::time_point now) const noexcept {
    if (!at_) return std::nullopt;
    for (const std::chrono::milliseconds after : {on_the_way, second_look, link_outlives}) {
      if (*at_ + after > now) return *at_ + after;
    }
    return std::nullopt;
  }

 private:
  std::optional<monotonic::time_point> at_;  // of the report, or of the last sample since then
  std::optional<std::uint64_t> received_;
  bool sends_on_ = false;
};

}  // namespace orc::detail
