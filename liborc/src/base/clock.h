// The two clocks: monotonic for deadlines, realtime for publish times.
#pragma once

#include <ctime>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "orc/timeout.h"

namespace orc::detail {

using monotonic = std::chrono::steady_clock;

[[nodiscard]] inline std::int64_t realtime_ns() noexcept {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<std::int64_t>(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

// Now minus `stamp_ns`, which a stranger may have made up: limited to the range of the type.
[[nodiscard]] inline std::int64_t age_of(std::int64_t stamp_ns) noexcept {
  std::int64_t age = 0;
  if (__builtin_sub_overflow(realtime_ns(), stamp_ns, &age)) return stamp_ns < 0 ? INT64_MAX : INT64_MIN;
  return age;
}

// For people: "50 ms", "500 us".
[[nodiscard]] inline std::string text_of(std::chrono::nanoseconds time) {
  if (time.count() % 1'000'000 == 0) return std::to_string(time.count() / 1'000'000) + " ms";
  if (time.count() % 1'000 == 0) return std::to_string(time.count() / 1'000) + " us";
  return std::to_string(time.count()) + " ns";
}

// The end of a wait; orc::forever, or beyond what the clock can count: never.
class deadline {
 public:
  explicit deadline(std::chrono::nanoseconds timeout) noexcept {
    if (timeout == forever) return;
    at_ = monotonic::time_point{};  // a poll needs no clock
    if (timeout.count() > 0) at_ = after(monotonic::now(), timeout);
  }
  // In ms; -1: never.
  explicit deadline(int timeout_ms) noexcept : deadline(timeout_of(timeout_ms)) {}
  explicit deadline(monotonic::time_point at) noexcept : at_(at) {}
  // The earlier of both.
  [[nodiscard]] deadline or_at(monotonic::time_point at) const noexcept {
    return deadline(at_ ? std::min(*at_, at) : at);
  }
  [[nodiscard]] bool passed() const noexcept { return at_ && monotonic::now() >= *at_; }
  // Time left, rounded down to 0; nothing: no limit.
  [[nodiscard]] std::optional<timespec> left() const noexcept {
    if (!at_) return std::nullopt;
    const auto rest = std::max(*at_ - monotonic::now(), monotonic::duration::zero());
    const auto ns = std::chrono::duration_cast<std::chrono::nanoseconds>(rest).count();
    return timespec{static_cast<time_t>(ns / 1'000'000'000), static_cast<long>(ns % 1'000'000'000)};
  }
  // Time left in ms, rounded up; -1: no limit.
  [[nodiscard]] int left_ms() const noexcept {
    if (!at_) return -1;
    const auto rest = std::max(*at_ - monotonic::now(), monotonic::duration::zero());
    return static_cast<int>(std::chrono::ceil<std::chrono::milliseconds>(rest).count());
  }

 private:
  [[nodiscard]] static std::optional<monotonic::time_point> after(monotonic::time_point now,
                                                                  std::chrono::nanoseconds timeout) noexcept {
    if (timeout > monotonic::time_point::max() - now) return std::nullopt;
    return now + timeout;
  }

  std::optional<monotonic::time_point> at_;
};

}  // namespace orc::detail
