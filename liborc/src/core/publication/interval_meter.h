// When a publication sent its newest sample, and the jitter of its samples, from the times at which it sent them. These
// are of the realtime clock, which the stamps need anyway, reports of the monotonic one: whoever asks gives both.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>

namespace orc::detail {

class interval_meter {
 public:
  struct report {
    std::int64_t newest_ns;  // monotonic; 0: no sample yet
    std::int64_t jitter_ns;  // -1: unknown
  };

  // A sample was sent at this time.
  void add(std::int64_t sent_ns) noexcept {
    if (newest_ns_ != 0) {
      const std::int64_t interval_ns = sent_ns - newest_ns_;
      if (intervals_++ == 0) usual_ns_ = interval_ns;
      // Relative to an interval, so that the squares of small differences keep their digits.
      const auto off = static_cast<double>(interval_ns - usual_ns_);
      sum_ += off;
      squares_ += off * off;
    }
    newest_ns_ = sent_ns;
  }

  // Reports the samples since the report before, and begins anew. With fewer than two intervals it goes on, so that a
  // slow topic has a jitter now and then.
  [[nodiscard]] report take(std::int64_t monotonic_ns, std::int64_t realtime_ns) noexcept {
    const std::int64_t offset_ns = realtime_ns - monotonic_ns;
    const bool clock_was_set = reported_ns_ != 0 && std::llabs(offset_ns - offset_ns_) > max_drift_ns;
    // Converted once, so that a clock that is set later does not move it; and sent after the report before, whatever
    // the realtime clock did.
    if (newest_ns_ != 0 && newest_ns_ != converted_from_ns_) {
      converted_from_ns_ = newest_ns_;
      converted_ns_ = std::clamp(newest_ns_ - offset_ns, std::max<std::int64_t>(reported_ns_, 1), monotonic_ns);
    }
    offset_ns_ = offset_ns;
    reported_ns_ = monotonic_ns;
    report made{converted_ns_, -1};
    if (!clock_was_set && intervals_ < 2) return made;
    if (clock_was_set)
      newest_ns_ = 0;  // the interval to the next sample is unknown
    else
      made.jitter_ns = deviation_ns();
    intervals_ = 0;
    sum_ = squares_ = 0;
    return made;
  }

 private:
  static constexpr std::int64_t max_drift_ns = 5'000'000;  // a clock that NTP corrects drifts 0.5 ms in a second

  [[nodiscard]] std::int64_t deviation_ns() const noexcept {
    const auto count = static_cast<double>(intervals_);
    const double mean = sum_ / count;
    return std::llround(std::sqrt(std::max(squares_ / count - mean * mean, 0.0)));
  }

  std::int64_t newest_ns_ = 0;  // realtime; 0: none that the next interval could begin at
  std::int64_t usual_ns_ = 0;   // the first interval since the report
  std::uint64_t intervals_ = 0;
  double sum_ = 0;      // of the differences to usual_ns_
  double squares_ = 0;  // of these
  // As of the last report:
  std::int64_t reported_ns_ = 0;
  std::int64_t offset_ns_ = 0;
  std::int64_t converted_from_ns_ = 0;  // realtime
  std::int64_t converted_ns_ = 0;       // the same on the monotonic clock
};

}  // namespace orc::detail
