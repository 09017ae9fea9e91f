#include "core/subscription/predictor.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <utility>

namespace orc::detail {

namespace {

constexpr std::int64_t longest_period = 1'000'000'000;
constexpr std::int64_t shortest_margin = 2'000;
constexpr std::int64_t after_the_last = 5'000;  // a window ends so much after the latest known arrival
constexpr std::uint64_t most_steps = 8;
constexpr std::int64_t longest_travel = 86'400'000'000'000;
// So many eighths of the samples may come before or after their watch; else watching for none is better.
constexpr std::size_t most_missed = 3;

}  // namespace

void predictor::values::add(std::int64_t value) noexcept {
  all[next] = value;
  next = (next + 1) % remembered;
  count = std::min(count + 1, remembered);
}

std::int64_t predictor::values::ranked(std::size_t rank) const noexcept {
  auto them = all;
  const auto end = them.begin() + static_cast<std::ptrdiff_t>(count);
  const auto at = them.begin() + static_cast<std::ptrdiff_t>(rank);
  std::nth_element(them.begin(), at, end);
  return *at;
}

std::array<std::int64_t, predictor::remembered> predictor::values::sorted() const noexcept {
  auto them = all;
  std::sort(them.begin(), them.begin() + static_cast<std::ptrdiff_t>(count));
  return them;
}

void predictor::begin() noexcept {
  periods_.clear();
  errors_.clear();
  slacks_.clear();
  period_ = 0;
  is_planned_ = false;
  planned_ = 0;
  travel_is_seen_ = false;
  travel_ = 0;
  unseen_ = unseen_travel_margin;
}

void predictor::read() noexcept {
  unread_ = false;
  in_vain_ = false;
  const std::int64_t watched = std::exchange(watched_now_, 0);
  if (late_now_) late_ += (*late_now_ - late_) / 8;
  const std::int64_t late = std::exchange(late_now_, std::nullopt).value_or(late_);
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
  cost_ += (watched / n - cost_) / 64;
  std::int64_t error = between - n * period_;
  if (last_.how == found::watching) {
    if (travel_is_seen_) error += travel - travel_;
    travel_ = travel_is_seen_ ? travel_ + (travel - travel_) / 8 : travel;
    travel_is_seen_ = true;
  } else if (last_.how == found::asleep && !travel_is_seen_) {
    // It includes a wake-up. A sample that came before its watch was to be watched for earlier.
    travel_ = travel_ == 0 ? travel : std::min(travel_, travel);
    if (given_) unseen_ += unseen_travel_margin;
  }
  if (period_ != 0) {
    errors_.add(error);
    slacks_.add(error - late);
  }
  given_ = false;
  if (periods_.count >= needed) {
    const std::int64_t before = std::exchange(period_, periods_.ranked(periods_.count / 2));
    if (std::abs(period_ - before) > period_ / 8) {  // the errors were those of another stream
      errors_.clear();
      slacks_.clear();
    }
  }
  is_planned_ = false;
}

// A watch begins `late` after its sleep should end. So with a lead it sees the samples whose slack is above minus that
// lead, and watches for each as long as the slack is above it. Sees as many as the budget allows.
void predictor::plan() noexcept {
  is_planned_ = true;
  affordable_ = false;
  if (errors_.count < needed) return;
  // The extreme of each side is left out: one outlier must not widen the window for long.
  const std::size_t count = slacks_.count;
  const std::int64_t margin = std::max(shortest_margin, allowed() / 10);
  latest_ = std::min(errors_.ranked(count - 2), allowed());  // to wait longer for few costs more than it is worth
  auto slacks = slacks_.sorted();
  for (std::int64_t& each : slacks) each = std::min(each, latest_);
  std::int64_t rest = std::accumulate(slacks.begin() + 1, slacks.begin() + static_cast<std::ptrdiff_t>(count),
                                      std::int64_t{0});  // of slacks from `missed` on
  const std::int64_t end = latest_ + after_the_last;
  const auto too_late = static_cast<std::size_t>(std::count_if(errors_.all.begin(),
                                                               errors_.all.begin() + static_cast<std::ptrdiff_t>(count),
                                                               [&](std::int64_t error) { return error > end; }));
  for (std::size_t missed = 1; missed + too_late <= count * most_missed / 8 && !affordable_; rest -= slacks[missed++]) {
    const auto seen = static_cast<std::int64_t>(count - missed);
    planned_ = margin + (rest - seen * slacks[missed]) / static_cast<std::int64_t>(count);
    lead_ = std::min(margin - slacks[missed], period_);
    affordable_ = planned_ <= allowed() - allowed() / 8;  // what is learned varies
  }
  if (!affordable_) planned_ = std::max(errors_.ranked(count - 2) - slacks_.ranked(1), allowed());
  // One that begins too late finds its sample there, and so shows the travel nearly as well.
  if (!travel_is_seen_) lead_ = std::min(lead_ + unseen_, period_);
}

std::int64_t predictor::allowed() const noexcept {
  return static_cast<std::int64_t>(share_ * static_cast<double>(period_));
}

std::optional<predictor::window> predictor::next() noexcept {
  if (unread_) read();
  predicted_ = false;
  if (!is_planned_) plan();
  if (in_vain_ || !affordable_ || cost_ > allowed()) return std::nullopt;
  const std::int64_t expected = stamp_ + period_ + travel_;
  predicted_ = true;
  given_ = true;
  const std::int64_t from = expected - lead_;
  return window{from, std::min(expected + latest_ + after_the_last, from + 2 * std::max(allowed(), lead_))};
}

void predictor::overslept(std::int64_t late_ns) noexcept {
  late_now_ = std::clamp<std::int64_t>(late_ns, 0, longest_period);
}

void predictor::watched(std::int64_t ns, bool in_vain) noexcept {
  ns = std::clamp<std::int64_t>(ns, 0, longest_period);
  watched_now_ += ns;
  watched_ns_ += static_cast<std::uint64_t>(ns);
  if (!in_vain) return;
  in_vain_ = true;
  predicted_ = false;
  given_ = false;
  ++misses_;
}

prediction_info predictor::figures() const noexcept {
  return {.period_ns = period_, .hits = hits_, .early = early_, .misses = misses_, .watched_ns = watched_ns_};
}

std::string predictor::why_not() const {
  if (errors_.count < needed)
    return period_ == 0 ? "the stream has no known period" : "its period is not known well enough yet";
  if (planned_ == 0) return "no receive waits";
  const std::int64_t needs = affordable_ ? cost_ : planned_;
  if (affordable_ && needs <= allowed()) return {};
  const auto percent = [](double share) {
    const auto tenths = static_cast<std::int64_t>(share * 1000 + 0.5);
    return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " %";
  };
  return "watching would take " + percent(static_cast<double>(needs) / static_cast<double>(period_)) +
         " of a core, and cpu_budget allows " + percent(share_);
}

}  // namespace orc::detail
