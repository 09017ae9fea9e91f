#include "tools/web/http/flow_window.h"

#include <algorithm>

namespace orc::web {

namespace {

using namespace std::chrono_literals;

constexpr auto fast_answer = 50ms;
constexpr auto slow_answer = 200ms;

}  // namespace

std::optional<std::uint32_t> flow_window::next_ping(clock::time_point now) noexcept {
  if (waits_ || unconfirmed_ < size_ / 4) return std::nullopt;
  waits_ = true;
  asked_ = unconfirmed_;
  asked_at_ = now;
  return ++number_;
}

void flow_window::answered(std::uint32_t number, clock::time_point now) noexcept {
  if (!waits_ || number != number_) return;
  waits_ = false;
  unconfirmed_ -= asked_;
  const auto took = now - asked_at_;
  if (took < fast_answer) size_ = std::min(size_ * 2, max_bytes);
  if (took > slow_answer) size_ = std::max(size_ / 2, min_bytes);
}

}  // namespace orc::web
