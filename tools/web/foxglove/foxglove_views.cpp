#include "tools/web/foxglove/foxglove_views.h"

#include <algorithm>
#include <chrono>
#include <span>
#include <utility>

#include "tools/web/foxglove/foxglove_text.h"
#include "tools/web/session/frame.h"

namespace orc::web {

namespace {

using namespace std::chrono_literals;

constexpr std::size_t advertise_bytes = std::size_t{1} << 20;
constexpr auto transcode_pause = 16ms;  // when there was no time for it
constexpr auto position_pause = 33ms;
constexpr std::uint8_t op_message = 1;
constexpr std::uint8_t op_time = 2;
constexpr std::uint8_t op_playback_state = 5;

// Times of the protocol are unsigned.
[[nodiscard]] std::uint64_t time_of(std::int64_t time_ns) noexcept {
  return static_cast<std::uint64_t>(std::max<std::int64_t>(time_ns, 0));
}

}  // namespace

void foxglove_advertiser::show(std::shared_ptr<const foxglove_channels> channels) {
  channels_ = std::move(channels);
  due_ = true;
}

clock::time_point foxglove_advertiser::refresh(clock::time_point now) { return due_ ? now : clock::time_point::max(); }

bool foxglove_advertiser::take(frame& to) {
  if (!due_) return false;
  if (take_ended(to)) return true;
  // Ids grow: what the client does not know is behind what it knows.
  const bool greets = std::exchange(greets_, false);
  const auto last = told_.empty() ? 0 : told_.back();
  const auto begin = std::upper_bound(channels_->begin(), channels_->end(), last,
                                      [](std::uint32_t id, const auto& each) { return id < each->id; });
  std::span<const std::shared_ptr<const foxglove_channel>> added(begin, channels_->end());
  const auto all = added;
  if (!all.empty() || greets) to = {.head = advertise_text(added, advertise_bytes)};
  for (const auto& each : all.first(all.size() - added.size())) told_.push_back(each->id);
  due_ = !added.empty();
  return !all.empty() || greets;
}

bool foxglove_advertiser::take_ended(frame& to) {
  std::vector<std::uint32_t> ended;
  std::erase_if(told_, [&](std::uint32_t id) {
    if (find_channel(*channels_, id)) return false;
    ended.push_back(id);
    return true;
  });
  if (ended.empty()) return false;
  to = {.head = unadvertise_text(ended)};
  return true;
}

clock::time_point foxglove_subscription::refresh(clock::time_point /*now*/) {
  return sent_ != feed_->sample_number() ? next_ : clock::time_point::max();
}

bool foxglove_subscription::take(frame& to) {
  const auto number = feed_->sample_number();
  if (number == sent_ || clock::now() < next_) return false;
  const auto sample = feed_->newest();
  // A sample of another type belongs to another channel, or its type is not known yet: it comes again then.
  if (!sample || !sample->type || sample->type->hash != channel_->type->hash) {
    sent_ = number;
    return false;
  }
  to = {.text = false};
  append_little(to.head, op_message);
  append_little(to.head, id_);
  append_little(to.head, time_of(sample->stamp_ns));
  if (!fill(sample, to)) return false;
  sent_ = number;
  return true;
}

bool foxglove_subscription::fill(const std::shared_ptr<const fed_sample>& sample, frame& to) {
  if (sample->size != sample->data.size() || sample->size > max_frame_bytes) {
    sent_ = feed_->sample_number();
    report("a sample of topic '" + channel_->topic + "' is too large to be sent: " + std::to_string(sample->size) +
           " bytes");
    return false;
  }
  if (channel_->type->transcoder) return transcode(sample, to);
  to.owner = sample;
  to.rest = sample->data;
  return true;
}

bool foxglove_subscription::transcode(const std::shared_ptr<const fed_sample>& sample, frame& to) {
  transcoded_sample& shared = *channel_->transcoded;
  auto bytes = shared.bytes.lock();
  if (!bytes || shared.of.lock() != sample) {
    const auto now = clock::now();
    if (!shared.time.has_time(now)) {
      next_ = now + transcode_pause;
      return false;
    }
    auto made = std::make_shared<std::vector<std::byte>>();
    const auto began = own_cpu_time();
    const result done = channel_->type->transcoder->transcode(sample->data, *made);
    shared.time.spend(own_cpu_time() - began);
    if (!done || made->size() > max_frame_bytes) {
      sent_ = feed_->sample_number();
      report("a sample of topic '" + channel_->topic +
             "' cannot be sent: " + (done ? "in CDR it is too large" : done.error().message()));
      return false;
    }
    shared.of = sample;
    bytes = std::move(made);
    shared.bytes = bytes;
  }
  to.rest = *bytes;
  to.owner = std::move(bytes);
  return true;
}

void foxglove_subscription::report(const std::string& problem) {
  if (problem == problem_) return;
  problem_ = problem;
  report_(problem);
}

void foxglove_playback::answer(std::string request, std::optional<std::int64_t> seek_ns) {
  request_ = std::move(request);
  seek_ns_ = seek_ns;
  state_due_ = true;
}

clock::time_point foxglove_playback::refresh(clock::time_point now) {
  if (state_due_) return now;
  if (now < next_) return next_;
  return sent_ != of_.status() ? now : now + position_pause;
}

bool foxglove_playback::take(frame& to) {
  playback_status now = of_.status();
  if (state_due_) {
    write_state(now, to);
    return true;
  }
  next_ = clock::now() + position_pause;
  state_due_ = state_ && (!sent_ || sent_->playing != now.playing || sent_->rate != now.rate);
  to = {.text = false};
  append_little(to.head, op_time);
  append_little(to.head, time_of(now.position_ns));
  sent_ = std::move(now);
  return true;
}

void foxglove_playback::write_state(const playback_status& now, frame& to) {
  enum class state : std::uint8_t { playing = 0, paused = 1, ended = 3 };
  const std::int64_t position = seek_ns_.value_or(now.position_ns);  // the player is on its way there
  const state is = now.playing ? state::playing : position >= of_.end_ns() ? state::ended : state::paused;
  to = {.text = false};
  append_little(to.head, op_playback_state);
  append_little(to.head, static_cast<std::uint8_t>(is));
  append_little(to.head, time_of(position));
  append_little(to.head, static_cast<float>(now.rate));
  append_little(to.head, static_cast<std::uint8_t>(seek_ns_ ? 1 : 0));
  append_little(to.head, static_cast<std::uint32_t>(request_.size()));
  to.head += request_;
  state_due_ = false;
  request_.clear();
  seek_ns_.reset();
}

}  // namespace orc::web
