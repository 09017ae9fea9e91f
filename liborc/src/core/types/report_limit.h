// How many reports of mismatches get into a publisher's log. Any program can send them, and the broker says who did. So
// each subscriber has a budget of its own, which keeps one from hiding the others, and all together have one, which
// bounds the log.
#pragma once

#include <array>
#include <chrono>
#include <string>
#include <string_view>

#include "base/clock.h"

namespace orc::detail {

// Not thread-safe. The clock comes as an argument.
class report_limit {
 public:
  static constexpr int at_once = 10;       // of one subscriber
  static constexpr int all_at_once = 100;  // of all subscribers
  // Then so long for each further one, of one subscriber and of all.
  static constexpr std::chrono::minutes per_report{1};
  // Subscribers with a budget of their own. A further one takes the place of the one that reported least lately.
  static constexpr std::size_t max_subscribers = 64;

  [[nodiscard]] bool allows(std::string_view subscriber, monotonic::time_point now) const noexcept;
  // Counts a report.
  void charge(std::string subscriber, monotonic::time_point now) noexcept;

 private:
  struct account {
    std::string subscriber = {};
    monotonic::time_point paid_until = monotonic::time_point::min();
  };

  std::array<account, max_subscribers> accounts_;
  monotonic::time_point all_paid_until_ = monotonic::time_point::min();
};

}  // namespace orc::detail
