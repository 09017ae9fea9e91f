#include "core/subscription/predictor.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace orc::detail {

namespace {

constexpr std::int64_t longest_period = 1'000'000'000;
constexpr std::int64_t shortest_margin = 2'000;
constexpr std::int64_t unseen_travel_margin = 60'000;  // a wake-up takes about that at most
constexpr std::int64_t after_the_last = 5'000;         // a window ends so much after the latest known arrival
constexpr std::uint64_t most_steps = 8;
constexpr std::int64_t longest_travel = 86'400'000'000'000;

}  // namespace

void predictor::values::add(std::int64_t value) noexcept {
  all[next] = value;
  next = (next + 1) % remembered;
  count = std::min(count + 1, remembered);
}

std::int64_t predictor::values::ranked(std::size_t rank) const noexcept {
  auto sorted = all;
  const auto end = sorted.begin() + static_cast<std::ptrdiff_t>(count);
  const auto at = sorted.begin() + static_cast<std::ptrdiff_t>(std::min(rank, count - 1));
  std::nth_element(sorted.begin(), at, end);
  return *at;
}

void predictor::begin() noexcept {
  periods_.clear();
  errors_.clear();
  period_ = 0;
  travel_is_seen_ = false;
  travel_ = 0;
}

void predictor::read() noexcept {
  unread_ = false;
  in_vain_ = false;
  const std::int64_t watched = std::exchange(watched_now_, 0);
  const std::uint64_t steps = last_.sequence - std::exchange(sequence_, last_.sequence);
  std::int64_t between = 0;
  std::int64_t travel = 0;
  const bool follows = steps > 0 && steps <= most_steps && !__builtin_sub_overflow(last_.stamp_ns, stamp_, &between) &&
                       between > 0 && between <= longest_period * static_cast<std::int64_t>(steps);
  // A stamp far from the clock, as of a recording that is played, says nothing of the next arrival.
  const bool is_live = !__builtin_sub_overflow(last_.now, last_.stamp_ns, &travel) && std::abs(travel) < longest_travel;
  stamp_ = last_.stamp_ns;
  if (!follows || !is_live) return begin();
  // One of the two clocks was set, or the stream was held up: what is known of the travel does not hold any more.
  const bool is_as_before = last_.how == found::there || !travel_is_seen_ || std::abs(travel - travel_) <= period_;
  if (!is_as_before) return begin();
  const auto n = static_cast<std::int64_t>(steps);
  periods_.add(between / n);
  cost_ += (watched / n - cost_) / 16;
  std::int64_t error = between - n * period_;
  if (last_.how == found::watching) {
    if (travel_is_seen_) error += travel - travel_;
    travel_ = travel_is_seen_ ? travel_ + (travel - travel_) / 8 : travel;
    travel_is_seen_ = true;
  } else if (last_.how == found::asleep && !travel_is_seen_) {
    // It includes a wake-up. A thread that woke before it was to watch was to watch earlier.
    const std::int64_t earlier = lead_ / 2;
    travel_ = travel_ == 0 ? travel : std::min(travel_ - earlier, travel);
  }
  lead_ = 0;
  if (period_ != 0) errors_.add(error);
  if (periods_.count >= needed) period_ = periods_.ranked(periods_.count / 2);
}

std::int64_t predictor::allowed() const noexcept {
  return static_cast<std::int64_t>(share_ * static_cast<double>(period_));
}

std::optional<predictor::window> predictor::next() noexcept {
  if (unread_) read();
  predicted_ = false;
  if (in_vain_ || errors_.count < needed) return std::nullopt;
  // The extreme of each side is left out: one outlier must not widen the window for long.
  const std::int64_t first = errors_.ranked(1);
  const std::int64_t last = errors_.ranked(errors_.count - 2);
  const std::int64_t known = margin_ - std::min<std::int64_t>(first, 0);
  // One that begins too late finds its sample there, and so shows the travel nearly as well.
  const std::int64_t unseen = std::clamp<std::int64_t>(allowed() - known, 0, unseen_travel_margin);
  const std::int64_t lead = known + (travel_is_seen_ ? 0 : unseen);
  if (lead > allowed() || cost_ > allowed()) {
    margin_ = std::max(shortest_margin, margin_ - margin_ / 64);
    cost_ -= cost_ / 64;
    return std::nullopt;
  }
  const std::int64_t expected = stamp_ + period_ + travel_;
  predicted_ = true;
  lead_ = lead;
  const std::int64_t from = expected - lead;
  return window{from, std::min(expected + last + after_the_last, from + 2 * allowed())};
}

void predictor::overslept(std::int64_t late_ns) noexcept {
  const std::int64_t late = std::clamp<std::int64_t>(late_ns, 0, 4 * margin_);
  margin_ += late > margin_ ? (late - margin_) / 4 : (late - margin_) / 256;
  margin_ = std::max(margin_, shortest_margin);
}

void predictor::watched(std::int64_t ns, bool in_vain) noexcept {
  ns = std::clamp<std::int64_t>(ns, 0, longest_period);
  watched_now_ += ns;
  watched_ns_ += static_cast<std::uint64_t>(ns);
  if (!in_vain) return;
  in_vain_ = true;
  predicted_ = false;
  lead_ = 0;
  ++misses_;
}

prediction_info predictor::figures() const noexcept {
  return {.period_ns = period_, .hits = hits_, .early = early_, .misses = misses_, .watched_ns = watched_ns_};
}

}  // namespace orc::detail
