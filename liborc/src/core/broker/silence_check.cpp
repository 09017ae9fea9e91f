#include "core/broker/silence_check.h"

#include <algorithm>
#include <system_error>

namespace orc::detail {

namespace {

constexpr auto look_at_check = std::chrono::milliseconds(10);  // time between two looks at a check that runs

}  // namespace

bool silence_check::step(monotonic::time_point now) {
  if (check_ && !check_->is_done()) return false;
  const bool ended = check_.has_value();
  if (ended && next_) take(check_->findings(), now);  // otherwise the check belongs to an earlier silence
  check_.reset();
  if (!next_) next_ = now + first_after;
  if (!endpoints_.empty() && now >= *next_) begin(now);
  return ended;
}

void silence_check::begin(monotonic::time_point now) {
  next_ = now + interval;
  try {
    check_.emplace(endpoints_, patient_ ? endpoint_check::long_patience : endpoint_check::patience);
  } catch (const std::system_error&) {  // no thread: nothing is found
  }
}

// After silence, at once looks again for longer: the first findings must not be late.
void silence_check::take(const std::vector<endpoint_finding>& found, monotonic::time_point now) {
  findings_.clear();
  for (const auto& each : found) {
    findings_.push_back(each.text);
    round_trip_ = std::max(round_trip_, each.round_trip);
  }
  const auto is_silent = [](const auto& each) { return each.what == endpoint_finding::kind::no_answer; };
  patient_ = !patient_ && std::any_of(found.begin(), found.end(), is_silent);
  if (patient_) next_ = now;
}

monotonic::time_point silence_check::next_step(monotonic::time_point now) const noexcept {
  if (endpoints_.empty()) return monotonic::time_point::max();
  return check_ ? now + look_at_check : next_.value_or(now);
}

void silence_check::end() noexcept {
  next_.reset();
  findings_.clear();
  patient_ = false;
}

}  // namespace orc::detail
