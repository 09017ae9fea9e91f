#include "tools/view/meters.h"

#include <algorithm>

namespace orc::view {

namespace {

using std::chrono::nanoseconds;

// Reports come once a second. Two that are closer, as after a reconnection, say little.
constexpr double min_elapsed_s = 0.2;

constexpr std::chrono::seconds longest_interval{30};  // that a rate is waited for

// A topic whose newest sample was younger than this at the report goes on: a thread that sends or reports on a busy
// machine wakes up tens of milliseconds late, which is many intervals of a fast topic.
constexpr double usual_delay_ns = 100e6;

// From `before` to `now`; 0: it went back. Strangers made these numbers up: the difference must not overflow.
[[nodiscard]] std::uint64_t elapsed_ns(std::int64_t before, std::int64_t now) noexcept {
  return now <= before ? 0 : static_cast<std::uint64_t>(now) - static_cast<std::uint64_t>(before);
}

[[nodiscard]] double elapsed_s(std::int64_t before, std::int64_t now) noexcept {
  return static_cast<double>(elapsed_ns(before, now)) / 1e9;
}

[[nodiscard]] double per_second(std::uint64_t before, std::uint64_t now, double elapsed) noexcept {
  return static_cast<double>(now - before) / elapsed;
}

// How old the newest sample was at the report.
[[nodiscard]] std::optional<nanoseconds> age_at_report(const publication_counters& of) noexcept {
  if (!of.last_sent_ns) return std::nullopt;
  constexpr std::uint64_t longest = INT64_MAX / 4;  // so that more can be added to it
  return nanoseconds(static_cast<std::int64_t>(std::min(elapsed_ns(*of.last_sent_ns, of.sampled_ns), longest)));
}

}  // namespace

std::optional<nanoseconds> age_of_newest(const publication_counters& counters) noexcept {
  const auto before = age_at_report(counters);
  if (!before) return std::nullopt;
  return *before + counters.age;
}

void publication_meter::begin(const publication_counters& report) noexcept {
  *this = {};
  last_ = newest_ = report;
  if (report.jitter_ns) jitter_ = nanoseconds(*report.jitter_ns);
}

void publication_meter::take(const publication_counters& report) noexcept {
  if (!last_ || report.sampled_ns < newest_.sampled_ns || report.sent < newest_.sent || report.bytes < newest_.bytes)
    return begin(report);
  if (report.jitter_ns) jitter_ = nanoseconds(*report.jitter_ns);
  newest_ = report;
  const double elapsed = elapsed_s(last_->sampled_ns, report.sampled_ns);
  if (elapsed < min_elapsed_s) return;
  rate_hz_ = rate_between(*last_, report, elapsed);
  // What a link dropped that has closed is not counted any more.
  dropped_per_s_ = per_second(last_->dropped, std::max(last_->dropped, report.dropped), elapsed);
  last_ = report;
}

std::optional<double> publication_meter::rate_between(const publication_counters& before,
                                                      const publication_counters& now, double elapsed_s) noexcept {
  const auto samples = static_cast<double>(now.sent - before.sent);
  if (samples == 0) {
    const auto age = age_at_report(now);
    // One sample has no interval. Its topic may be slow, or silent for ever.
    if (!rate_hz_ && age && *age < longest_interval) return std::nullopt;
    const double kept = rate_hz_.value_or(0);
    return age && static_cast<double>(age->count()) / 1e9 * kept < 3 ? kept : 0;
  }
  sample_bytes_ = static_cast<double>(now.bytes - before.bytes) / samples;
  if (now.last_sent_ns && before.last_sent_ns) {
    // From newest sample to newest sample there is a whole number of intervals: 1 Hz is 1.0 and not 0, 1 or 2. But a
    // pause before several samples, or after them, is no interval of theirs.
    const double between_s = view::elapsed_s(*before.last_sent_ns, *now.last_sent_ns);
    const double silent_s = view::elapsed_s(*before.last_sent_ns, before.sampled_ns);
    if (between_s >= elapsed_s / 2 && (samples == 1 || silent_s <= elapsed_s)) return samples / between_s;
  }
  return samples / elapsed_s;
}

std::optional<double> publication_meter::bytes_per_s() const noexcept {
  if (!rate_hz_) return std::nullopt;
  return *rate_hz_ * sample_bytes_;
}

std::optional<nanoseconds> publication_meter::jitter() const noexcept {
  return rate_hz_ && *rate_hz_ == 0 ? std::nullopt : jitter_;
}

std::optional<nanoseconds> publication_meter::age() const noexcept {
  const auto before = age_at_report(newest_);
  if (!before) return std::nullopt;
  const double interval_ns = rate_hz_.value_or(0) > 0 ? 1e9 / *rate_hz_ : 0;
  const auto after = std::chrono::duration_cast<nanoseconds>(newest_.age);
  const bool goes_on = interval_ns > 0 &&
                       static_cast<double>(before->count()) <= std::max(2 * interval_ns, usual_delay_ns) &&
                       static_cast<double>(after.count()) > interval_ns && after < std::chrono::seconds(3);
  return goes_on ? *before : *before + after;
}

void subscription_meter::take(const subscription_counters& report) noexcept {
  const counts now{report.sampled_ns, report.received, report.bytes, report.missed};
  if (!last_ || now.sampled_ns < last_->sampled_ns || now.received < last_->received || now.bytes < last_->bytes ||
      now.missed < last_->missed) {
    *this = {};
    last_ = now;
    return;
  }
  const double elapsed = elapsed_s(last_->sampled_ns, now.sampled_ns);
  if (elapsed < min_elapsed_s) return;
  rate_hz_ = per_second(last_->received, now.received, elapsed);
  bytes_per_s_ = per_second(last_->bytes, now.bytes, elapsed);
  missed_per_s_ = per_second(last_->missed, now.missed, elapsed);
  last_ = now;
}

}  // namespace orc::view
