// Rates of one publication or subscription, from the counters in its reports. All times are of the reporting
// participant's own clock, so a report that comes late does not change a rate.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "orc/directory.h"

namespace orc::view {

// How old the newest sample is now, for a publication whose counters the broker has just told. Never negative.
[[nodiscard]] std::optional<std::chrono::nanoseconds> age_of_newest(const publication_counters& counters) noexcept;

// Of one publication: a new one begins with a new meter.
class publication_meter {
 public:
  // Takes a report. The same one again changes nothing. One whose counters went back is the first of a new row.
  void take(const publication_counters& report) noexcept;

  // Nothing: there were not two reports yet, or no second sample within half a minute of the newest one. A slow topic
  // keeps its rate between two samples; after three of its intervals without a sample the rate is 0.
  [[nodiscard]] std::optional<double> rate_hz() const noexcept { return rate_hz_; }
  // Whether there were two reports: a rate that is not known then may take long.
  [[nodiscard]] bool is_measured() const noexcept { return dropped_per_s_.has_value(); }
  [[nodiscard]] std::optional<double> bytes_per_s() const noexcept;
  [[nodiscard]] std::optional<double> dropped_per_s() const noexcept { return dropped_per_s_; }
  [[nodiscard]] std::optional<std::chrono::nanoseconds> jitter() const noexcept;
  // As topic_figures::age.
  [[nodiscard]] std::optional<std::chrono::nanoseconds> age() const noexcept;

 private:
  void begin(const publication_counters& report) noexcept;
  [[nodiscard]] std::optional<double> rate_between(const publication_counters& before, const publication_counters& now,
                                                   double elapsed_s) noexcept;

  std::optional<publication_counters> last_;  // the report that the next difference begins at
  publication_counters newest_;
  std::optional<double> rate_hz_;
  double sample_bytes_ = 0;  // on average
  std::optional<double> dropped_per_s_;
  std::optional<std::chrono::nanoseconds> jitter_;
};

// Of one subscription.
class subscription_meter {
 public:
  // As publication_meter::take.
  void take(const subscription_counters& report) noexcept;

  [[nodiscard]] std::optional<double> rate_hz() const noexcept { return rate_hz_; }
  [[nodiscard]] std::optional<double> bytes_per_s() const noexcept { return bytes_per_s_; }
  [[nodiscard]] std::optional<double> missed_per_s() const noexcept { return missed_per_s_; }

 private:
  struct counts {
    std::int64_t sampled_ns;
    std::uint64_t received;
    std::uint64_t bytes;
    std::uint64_t missed;
  };
  std::optional<counts> last_;
  std::optional<double> rate_hz_;
  std::optional<double> bytes_per_s_;
  std::optional<double> missed_per_s_;
};

}  // namespace orc::view
