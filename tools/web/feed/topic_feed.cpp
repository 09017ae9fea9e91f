#include "tools/web/feed/topic_feed.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace orc::web {

namespace {

constexpr std::chrono::seconds report_time{5};

constexpr std::size_t small_bytes = std::size_t{1} << 20;
constexpr std::size_t for_small_bytes = std::size_t{128} << 20;

}  // namespace

std::shared_ptr<const void> feed_limits::keep(std::size_t bytes) const {
  if (bytes > max_shown_bytes) return nullptr;
  return samples->take(bytes, bytes > small_bytes ? for_small_bytes : 0);
}

std::shared_ptr<const fed_sample> topic_feed::newest() const {
  const std::lock_guard lock(mutex_);
  return newest_;
}

feed_state topic_feed::state() const {
  const std::lock_guard lock(mutex_);
  return state_;
}

std::shared_ptr<topic_plot> topic_feed::add_plot(const std::string& path, double per_second) {
  auto made = std::make_shared<topic_plot>(path, per_second, limits_.plots);
  const std::lock_guard lock(mutex_);
  auto& field = fields_[path];
  if (!field) field = prepare(path);
  field->plots.push_back(made);
  return made;
}

void topic_feed::remove_plot(const std::shared_ptr<topic_plot>& plot) {
  const std::lock_guard lock(mutex_);
  const auto at = fields_.find(plot->path_);
  if (at == fields_.end()) return;
  std::erase(at->second->plots, plot);
  if (at->second->plots.empty()) fields_.erase(at);
}

void topic_feed::set_resolution(topic_plot& plot, double per_second) {
  const std::lock_guard lock(mutex_);
  plot.sampler_.set_resolution(per_second);
}

bool topic_feed::plot_ready(const topic_plot& plot, std::int64_t now_ns) const {
  const std::lock_guard lock(mutex_);
  return plot.sampler_.ready(now_ns);
}

plot_batch topic_feed::take(topic_plot& plot, std::int64_t now_ns, std::size_t most) {
  const std::lock_guard lock(mutex_);
  return plot.sampler_.take(now_ns, most);
}

std::string topic_feed::problem_of(const topic_plot& plot) const {
  const std::lock_guard lock(mutex_);
  const auto at = fields_.find(plot.path_);
  if (at != fields_.end() && !at->second->problem.empty()) return at->second->problem;
  return thinned_ ? "decoding takes too long: the plots do not show all samples" : "";
}

void topic_feed::plot(std::span<const std::byte> sample, std::int64_t stamp_ns, std::int64_t now_ns) {
  if (!begin_plot()) return;
  auto worked = own_cpu_time();
  std::size_t left = plotted_.size();
  for (; left != 0 && budget_.has_time(time_budget::clock::now()); --left) {
    turn_ = (turn_ + 1) % plotted_.size();
    plot_field(*plotted_[turn_], sample, stamp_ns, now_ns);
    const auto before = std::exchange(worked, own_cpu_time());
    budget_.spend(worked - before);
  }
  set_thinned(left != 0, time_budget::clock::now());
}

// False: there is nothing to plot.
bool topic_feed::begin_plot() {
  plotted_.clear();
  const std::lock_guard lock(mutex_);
  plotted_type_ = type_;
  for (const auto& [path, field] : fields_)
    if (field->path) plotted_.push_back(field);
  return !plotted_.empty();
}

void topic_feed::plot_field(plotted_field& field, std::span<const std::byte> sample, std::int64_t stamp_ns,
                            std::int64_t now_ns) {
  const result found = plotted_type_->decoder->find(sample, *field.path, value_);
  const auto number = found ? value_.number() : std::nullopt;
  const std::lock_guard lock(mutex_);
  if (number) {
    for (const auto& each : field.plots) each->sampler_.add(stamp_ns, *number, now_ns);
    fail(field, {});
  } else if (!found) {
    fail(field, found.error().message());
  } else if (!value_.missing()) {
    fail(field, "field '" + field.name + "' is not one number");
  }
}

// Samples that were left out are reported for some seconds, so that the report does not flicker.
void topic_feed::set_thinned(bool thinned, time_budget::clock::time_point now) {
  if (thinned) thinned_at_ = now;
  const bool report = thinned || (thinned_ && now - thinned_at_ < report_time);
  if (report == thinned_) return;
  const std::lock_guard lock(mutex_);
  thinned_ = report;
  state_number_.fetch_add(1, std::memory_order_release);
}

void topic_feed::restart_plots() {
  const std::lock_guard lock(mutex_);
  for (const auto& [path, field] : fields_)
    for (const auto& each : field->plots) each->sampler_.restart();
}

void topic_feed::set_type(std::shared_ptr<const decoded_type> type) {
  const std::lock_guard lock(mutex_);
  typed_ = true;
  type_ = std::move(type);
  for (auto& [path, field] : fields_) {
    for (const auto& each : field->plots) each->sampler_.restart();
    // Another object: plot() may use this one now.
    auto made = prepare(path);
    made->plots = std::move(field->plots);
    field->plots.clear();
    if (made->problem != field->problem) state_number_.fetch_add(1, std::memory_order_release);
    field = std::move(made);
  }
}

std::shared_ptr<topic_feed::plotted_field> topic_feed::prepare(const std::string& path) const {
  auto made = std::make_shared<plotted_field>();
  made->name = path;
  if (!typed_) return made;
  if (!type_) {
    made->problem = "the topic is untyped: it has no fields";
  } else if (!type_->decoder) {
    made->problem = type_->problem;
  } else {
    types::field_path field;
    if (const result found = type_->decoder->path(path, field))
      made->path = std::move(field);
    else
      made->problem = found.error().message();
  }
  return made;
}

void topic_feed::fail(plotted_field& field, std::string problem) {
  if (field.problem == problem) return;
  field.problem = std::move(problem);
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
