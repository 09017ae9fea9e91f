#include "core/broker/silence_check.h"

#include <system_error>

namespace orc::detail {

namespace {

constexpr auto look_at_check = std::chrono::milliseconds(10);  // time between two looks at a check that runs

}  // namespace

bool silence_check::step(monotonic::time_point now) {
  if (check_ && !check_->is_done()) return false;
  const bool ended = check_.has_value();
  if (ended && next_) findings_ = check_->findings();  // otherwise the check belongs to an earlier silence
  check_.reset();
  if (!next_) next_ = now + first_after;
  if (!endpoints_.empty() && now >= *next_) begin(now);
  return ended;
}

void silence_check::begin(monotonic::time_point now) {
  next_ = now + interval;
  try {
    check_.emplace(endpoints_);
  } catch (const std::system_error&) {  // no thread: nothing is found
  }
}

monotonic::time_point silence_check::next_step(monotonic::time_point now) const noexcept {
  if (endpoints_.empty()) return monotonic::time_point::max();
  return check_ ? now + look_at_check : next_.value_or(now);
}

void silence_check::end() noexcept {
  next_.reset();
  findings_.clear();
}

}  // namespace orc::detail
