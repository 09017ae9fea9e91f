#include "tools/web/topic_feed.h"

#include <algorithm>
#include <utility>

namespace orc::web {

std::shared_ptr<const fed_sample> topic_feed::newest() const {
  const std::lock_guard lock(mutex_);
  return newest_;
}

feed_state topic_feed::state() const {
  const std::lock_guard lock(mutex_);
  return state_;
}

std::shared_ptr<topic_plot> topic_feed::add_plot(const std::string& path, double per_second) {
  auto made = std::make_shared<topic_plot>(path, per_second);
  const std::lock_guard lock(mutex_);
  prepare(*made);
  plots_.push_back(made);
  return made;
}

void topic_feed::remove_plot(const std::shared_ptr<topic_plot>& plot) {
  const std::lock_guard lock(mutex_);
  std::erase(plots_, plot);
}

void topic_feed::set_resolution(topic_plot& plot, double per_second) {
  const std::lock_guard lock(mutex_);
  plot.sampler_.set_resolution(per_second);
}

bool topic_feed::plot_ready(const topic_plot& plot, std::int64_t now_ns) const {
  const std::lock_guard lock(mutex_);
  return plot.sampler_.ready(now_ns);
}

plot_batch topic_feed::take(topic_plot& plot, std::int64_t now_ns) {
  const std::lock_guard lock(mutex_);
  return plot.sampler_.take(now_ns);
}

std::string topic_feed::problem_of(const topic_plot& plot) const {
  const std::lock_guard lock(mutex_);
  return plot.problem_;
}

void topic_feed::plot(std::span<const std::byte> sample, std::int64_t stamp_ns, std::int64_t now_ns) {
  const std::lock_guard lock(mutex_);
  for (const auto& each : plots_) {
    if (!each->usable_) continue;
    if (const result found = type_->decoder->find(sample, each->field_, each->value_); !found) {
      fail(*each, found.error().message());
    } else if (const auto number = each->value_.number()) {
      each->sampler_.add(stamp_ns, *number, now_ns);
      if (!each->problem_.empty()) fail(*each, {});
    } else if (!each->value_.missing()) {
      fail(*each, "field '" + each->path_ + "' is not one number");
    }
  }
}

void topic_feed::restart_plots() {
  const std::lock_guard lock(mutex_);
  for (const auto& each : plots_) each->sampler_.restart();
}

void topic_feed::set_type(std::shared_ptr<const decoded_type> type) {
  const std::lock_guard lock(mutex_);
  typed_ = true;
  type_ = std::move(type);
  for (const auto& each : plots_) {
    each->sampler_.restart();
    prepare(*each);
  }
}

void topic_feed::prepare(topic_plot& plot) {
  plot.usable_ = false;
  if (!typed_) return;
  if (!type_) return fail(plot, "the topic is untyped: it has no fields");
  if (!type_->decoder) return fail(plot, type_->problem);
  if (const result made = type_->decoder->path(plot.path_, plot.field_); !made)
    return fail(plot, made.error().message());
  plot.usable_ = true;
  fail(plot, {});
}

void topic_feed::fail(topic_plot& plot, std::string problem) {
  if (plot.problem_ == problem) return;
  plot.problem_ = std::move(problem);
  state_number_.fetch_add(1, std::memory_order_release);
}

void topic_feed::show(std::shared_ptr<const fed_sample> sample) {
  const std::lock_guard lock(mutex_);
  newest_ = std::move(sample);
  sample_number_.fetch_add(1, std::memory_order_release);
}

void topic_feed::forget() {
  const std::lock_guard lock(mutex_);
  newest_.reset();
}

void topic_feed::set_state(feed_state state) {
  const std::lock_guard lock(mutex_);
  if (state == state_) return;
  state_ = std::move(state);
  state_number_.fetch_add(1, std::memory_order_release);
}

}  // namespace orc::web
