#include "tools/web/page_protocol/page_views.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/clock.h"
#include "tools/web/json_text.h"
#include "tools/web/nanoseconds.h"
#include "tools/web/page_protocol/tree_writer.h"
#include "tools/web/session/frame.h"

namespace orc::web {

namespace {

using namespace std::chrono_literals;

constexpr auto page_sample_pause = 95ms;  // a little less than the source's 100: both pauses do not add up
constexpr auto page_image_pause = 30ms;
constexpr auto state_pause = 100ms;
constexpr auto state_burst = 900ms;  // a topic that begins changes its state a few times at once
constexpr auto room_pause = 100ms;
constexpr std::size_t small_picture = std::size_t{1} << 20;  // always has room: there are few clients
constexpr auto plot_pause = 16ms;
constexpr auto system_pause = 200ms;  // the poller itself pauses half a second
constexpr std::uint8_t kind_plot = 1;
constexpr std::uint8_t plot_begins_anew = 1;

[[nodiscard]] std::string_view name_of(feed_state::kind what) noexcept {
  switch (what) {
    case feed_state::kind::waiting: return "waiting";
    case feed_state::kind::up: return "up";
    case feed_state::kind::gone: return "gone";
  }
  return "";
}

void append_type(std::string& to, const decoded_type* type) {
  if (type == nullptr) {
    to += "null";
    return;
  }
  to += R"({"name":)";
  append_quoted(to, type->name);
  to += R"(,"encoding":)";
  append_quoted(to, type->encoding);
  to += '}';
}

// Returns a note for people.
[[nodiscard]] std::string append_sample_tree(std::string& to, const fed_sample& sample) {
  const tree_limits limits;
  if (sample.size > sample.data.size()) {
    append_bytes_tree(to, {}, limits);
    if (sample.size > max_shown_bytes) return "samples of more than 64 MiB are not shown";
    return "the sample is too large: those that are shown already fill the memory for them";
  }
  if (!sample.type || !sample.type->decoder) {
    append_bytes_tree(to, sample.data, limits);
    return sample.type ? sample.type->problem : "";
  }
  const std::size_t start = to.size();
  bool cut = false;
  const result done = append_tree(to, *sample.type->decoder, sample.data, limits, cut);
  if (done) return cut ? "the sample is too large: this is its beginning" : "";
  to.resize(start);
  append_bytes_tree(to, sample.data, limits);
  return done.error().message();
}

}  // namespace

clock::time_point page_system::refresh(clock::time_point now) {
  if (now < next_) return next_;
  next_ = now + system_pause;
  return from_.refresh() != sent_ && from_.text() ? now : next_;
}

bool page_system::take(frame& to) {
  sent_ = from_.refresh();
  const auto text = from_.text();
  if (!text) return false;
  to = {.owner = text, .rest = std::as_bytes(std::span(*text))};
  return true;
}

bool page_topic::take_state(frame& to) {
  sent_state_ = feed_->state_number();
  own_news_ = false;
  state_at_ = std::max(state_at_, clock::now() - state_burst) + state_pause;
  const feed_state state = feed_->state();
  const std::string own = problem();
  std::string text = R"({"op":"topic","id":)";
  append_number(text, id_);
  text += R"(,"state":)";
  append_quoted(text, name_of(state.what));
  text += R"(,"message":)";
  append_quoted(text, own.empty() ? state.message : own);
  text += '}';
  to = {.head = std::move(text)};
  return true;
}

clock::time_point page_sample::refresh(clock::time_point /*now*/) {
  return sent_ != feed_->sample_number() ? std::min(next_, state_at()) : state_at();
}

bool page_sample::has_more() const {
  return state_is_due() || (sent_ != feed_->sample_number() && clock::now() >= next_);
}

bool page_sample::take(frame& to) {
  if (state_is_due()) return take_state(to);
  const auto number = feed_->sample_number();
  if (number == sent_) return false;
  sent_ = number;
  const auto sample = feed_->newest();
  if (!sample) return false;
  next_ = clock::now() + page_sample_pause;
  std::string text = R"({"op":"sample","id":)";
  append_number(text, id_);
  text += R"(,"stamp":)";
  append_quoted_number(text, sample->stamp_ns);
  text += R"(,"sequence":)";
  append_quoted_number(text, sample->sequence);
  text += R"(,"age":)";
  append_number(text, static_cast<double>(sample->age_ns.value_or(detail::age_of(sample->stamp_ns))) * 1e-9);
  text += R"(,"missed":)";
  append_quoted_number(text, sample->missed);
  text += R"(,"size":)";
  append_number(text, sample->size);
  text += R"(,"type":)";
  append_type(text, sample->type.get());
  text += R"(,"tree":)";
  const std::string note = append_sample_tree(text, *sample);
  text += R"(,"note":)";
  append_quoted(text, note);
  text += '}';
  to = {.head = std::move(text)};
  return true;
}

std::string page_sample::problem() const {
  const auto sample = feed_->newest();
  return sample && sample->type ? sample->type->problem : "";
}

clock::time_point page_plot::refresh(clock::time_point now) {
  if (now < next_) return next_;
  return has_more() ? now : now + plot_pause;
}

bool page_plot::has_more() const { return state_is_due() || feed_->plot_ready(*plot_, monotonic_ns(clock::now())); }

bool page_plot::take(frame& to) {
  if (state_is_due()) return take_state(to);
  const auto now = clock::now();
  const plot_batch batch = feed_->take(*plot_, monotonic_ns(now), frame_bytes_ / sizeof(plot_point));
  if (batch.points.empty()) return false;
  next_ = now + plot_pause;
  std::string bytes;
  bytes.reserve(16 + batch.points.size() * sizeof(plot_point));
  append_little(bytes, kind_plot);
  append_little(bytes, batch.anew ? plot_begins_anew : std::uint8_t{0});
  append_little(bytes, std::uint16_t{0});
  append_little(bytes, id_);
  append_little(bytes, static_cast<std::uint32_t>(batch.points.size()));
  append_little(bytes, std::uint32_t{0});
  for (const plot_point& each : batch.points) {
    append_little(bytes, each.time_s);
    append_little(bytes, each.min);
    append_little(bytes, each.max);
  }
  to = {.text = false, .head = std::move(bytes)};
  return true;
}

clock::time_point page_image::refresh(clock::time_point /*now*/) {
  if (in_flight_ || sent_ == feed_->sample_number()) return state_at();
  return std::min(next_, state_at());
}

// The share of a picture ends with its frame.
bool page_image::take_room(const fed_sample& sample, frame& picture) {
  struct owners {
    std::shared_ptr<const void> bytes;
    std::shared_ptr<const void> share;
  };
  const std::size_t bytes = picture.head.capacity() + (picture.owner ? sample.data.size() : 0);
  needed_ = 0;
  if (bytes <= small_picture) return true;
  auto share = frames_->take(bytes);
  if (share) {
    picture.owner = std::make_shared<const owners>(owners{std::move(picture.owner), std::move(share)});
    return true;
  }
  needed_ = bytes;
  picture = {};
  return false;
}

bool page_image::take(frame& to) {
  if (state_is_due()) return take_state(to);
  const auto number = feed_->sample_number();
  if (in_flight_ || number == sent_) return false;
  next_ = clock::now() + room_pause;
  if (needed_ > frames_->room()) return false;
  to = {};
  std::string problem;
  const auto sample = feed_->newest();
  if (!sample) return false;
  if (reader_.read(sample, id_, to, problem)) {
    if (!take_room(*sample, to)) return false;
    in_flight_ = true;
    problem.clear();
  }
  sent_ = number;
  next_ = clock::now() + page_image_pause;
  if (problem != std::exchange(problem_, problem)) report_again();
  return in_flight_ || (state_is_due() && take_state(to));
}

}  // namespace orc::web
