#include "tools/web/feed/plot_sampler.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "tools/web/nanoseconds.h"

namespace orc::web {

namespace {

constexpr std::int64_t second_ns = 1'000'000'000;

// NaN counts only beside NaN.
void widen(double& min, double& max, double low, double high) noexcept {
  if (std::isnan(low)) return;
  min = std::isnan(min) ? low : std::min(min, low);
  max = std::isnan(max) ? high : std::max(max, high);
}

}  // namespace

plot_sampler::plot_sampler(double per_second, std::shared_ptr<plot_room> room) : room_(std::move(room)) {
  set_resolution(per_second);
}

plot_sampler::~plot_sampler() {
  complete_.clear();
  count();
}

void plot_sampler::count() {
  if (room_) room_->change(counted_ * sizeof(slot), complete_.size() * sizeof(slot));
  counted_ = complete_.size();
}

void plot_sampler::set_resolution(double per_second) {
  close_slot();
  const double fitting = std::isnan(per_second) ? 1 : std::clamp(per_second, min_per_second, max_per_second);
  width_ns_ = std::max<std::int64_t>(1, std::llround(static_cast<double>(second_ns) / fitting));
}

void plot_sampler::add(std::int64_t stamp_ns, double value, std::int64_t now_ns) {
  if (is_open_) {
    const bool back = stamp_ns < open_.stamp_ns;
    const bool far_back = back && span_ns(stamp_ns, open_.stamp_ns) > second_ns;
    if (far_back) restart();
    if (is_open_ && (stamp_ns / width_ns_ == open_index_ || back)) {
      open_.stamp_ns = std::max(open_.stamp_ns, stamp_ns);
      widen(open_.min, open_.max, value, value);
      return;
    }
    close_slot();
  } else if (!anew_ && stamp_ns < last_stamp_ns_) {
    if (span_ns(stamp_ns, last_stamp_ns_) > second_ns)
      anew_ = true;
    else
      stamp_ns = last_stamp_ns_;  // the slot before may be with the client already
  }
  open_ = {stamp_ns, value, value, anew_};
  anew_ = false;
  is_open_ = true;
  open_index_ = stamp_ns / width_ns_;
  opened_ns_ = now_ns;
}

void plot_sampler::restart() {
  close_slot();
  anew_ = true;
}

void plot_sampler::close_slot() {
  if (!is_open_) return;
  is_open_ = false;
  last_stamp_ns_ = open_.stamp_ns;
  complete_.push_back(open_);
  const bool full = room_ && room_->full();
  if (complete_.size() > (full ? few_pending : max_pending)) merge_neighbours();
  count();
}

void plot_sampler::merge_neighbours() {
  std::deque<slot> merged;
  for (std::size_t i = 0; i < complete_.size(); i += 2) {
    slot both = complete_[i];
    if (i + 1 < complete_.size()) {
      const slot& next = complete_[i + 1];
      both.stamp_ns = next.stamp_ns;
      both.anew = both.anew || next.anew;
      widen(both.min, both.max, next.min, next.max);
    }
    merged.push_back(both);
  }
  complete_ = std::move(merged);
}

bool plot_sampler::is_over(std::int64_t now_ns) const noexcept { return is_open_ && now_ns - opened_ns_ >= width_ns_; }

bool plot_sampler::ready(std::int64_t now_ns) const noexcept { return !complete_.empty() || is_over(now_ns); }

plot_batch plot_sampler::take(std::int64_t now_ns, std::size_t most) {
  if (is_over(now_ns)) close_slot();
  while (complete_.size() > std::max<std::size_t>(most, 1)) merge_neighbours();
  plot_batch taken;
  while (!complete_.empty()) {
    const slot& next = complete_.front();
    if (next.anew && !taken.points.empty()) break;
    if (taken.points.empty()) taken.anew = next.anew;
    taken.points.push_back({static_cast<double>(next.stamp_ns) * 1e-9, next.min, next.max});
    complete_.pop_front();
  }
  count();
  return taken;
}

}  // namespace orc::web
