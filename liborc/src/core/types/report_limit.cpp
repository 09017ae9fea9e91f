#include "core/types/report_limit.h"

#include <algorithm>
#include <utility>

namespace orc::detail {

namespace {

// Until when is paid, if nothing above `at_once` reports is saved up.
[[nodiscard]] monotonic::time_point paid(monotonic::time_point until, int at_once, monotonic::time_point now) noexcept {
  return std::max(until, now - (at_once - 1) * monotonic::duration(report_limit::per_report));
}

}  // namespace

bool report_limit::allows(std::string_view subscriber, monotonic::time_point now) const noexcept {
  if (paid(all_paid_until_, all_at_once, now) > now) return false;
  const auto found = std::find_if(accounts_.begin(), accounts_.end(),
                                  [&](const account& each) { return each.subscriber == subscriber; });
  return found == accounts_.end() || paid(found->paid_until, at_once, now) <= now;
}

void report_limit::charge(std::string subscriber, monotonic::time_point now) noexcept {
  all_paid_until_ = paid(all_paid_until_, all_at_once, now) + per_report;
  auto found = std::find_if(accounts_.begin(), accounts_.end(),
                            [&](const account& each) { return each.subscriber == subscriber; });
  if (found == accounts_.end()) {
    found = std::min_element(accounts_.begin(), accounts_.end(),
                             [](const account& a, const account& b) { return a.paid_until < b.paid_until; });
    *found = {std::move(subscriber), monotonic::time_point::min()};
  }
  found->paid_until = paid(found->paid_until, at_once, now) + per_report;
}

}  // namespace orc::detail
