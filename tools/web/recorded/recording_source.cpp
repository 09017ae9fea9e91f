#include "tools/web/recorded/recording_source.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <optional>
#include <utility>

#include "tools/web/nanoseconds.h"
#include "tools/web/page_protocol/system_text.h"
#include "tools/web/start_thread.h"

namespace orc::web {

namespace {

using namespace std::chrono_literals;

constexpr auto show_pause = 33ms;
constexpr auto recorded_message_pause = 16ms;
constexpr auto lapse_pause = 300ms;  // after a jump; what topics had at that position has come by then

// LCM logs have an encoding, and no type. JSON needs no schema.
[[nodiscard]] bool is_untyped(const type_description& type) noexcept {
  return type.name.empty() && type.schema.empty() && type.schema_encoding.empty() && type.message_encoding != "json";
}

[[nodiscard]] std::uint64_t number_in(const std::map<std::string, std::string>& entries, const char* key) {
  const auto found = entries.find(key);
  std::uint64_t value = 0;
  if (found != entries.end()) std::from_chars(found->second.data(), found->second.data() + found->second.size(), value);
  return value;
}

[[nodiscard]] std::optional<participant_state> publisher_of(const recording::channel& channel) {
  const auto name = channel.metadata.find("orc.publisher");
  if (name == channel.metadata.end()) return std::nullopt;
  participant_state publisher;
  publisher.name = name->second;
  publisher.pid =
      static_cast<std::uint32_t>(std::min<std::uint64_t>(number_in(channel.metadata, "orc.pid"), UINT32_MAX));
  return publisher;
}

// What the recorder noted about samples that are not in the file.
void add_loss(std::map<std::string, recorded_figures>& topics, const recording::named_metadata& note) {
  if (note.name != "orc.missed" && note.name != "orc.drops") return;
  const auto topic = note.entries.find("topic");
  if (topic == note.entries.end()) return;
  const auto found = topics.find(topic->second);
  if (found != topics.end()) found->second.missed = found->second.missed.value_or(0) + number_in(note.entries, "count");
}

}  // namespace

result recording_source::open(const std::vector<std::string>& files, std::function<void()> news,
                              std::unique_ptr<recording_source>& made) {
  std::unique_ptr<cli::merged_recording> recording;
  if (result done = cli::merged_recording::open(files, recording); !done) return done;
  if (recording->samples() == 0) return {errc::bad_argument, "the recording has no sample"};
  made.reset(new recording_source(files, std::move(recording), std::move(news)));
  return {};
}

recording_source::recording_source(std::vector<std::string> files, std::unique_ptr<cli::merged_recording> recording,
                                   std::function<void()> news)
    : files_(std::move(files)),
      recording_(std::move(recording)),
      news_(std::move(news)),
      system_text_(std::make_shared<const std::string>(describe())),
      channels_(recording_->channels()) {
  for (const cli::merged_channel& each : channels_) topics_.try_emplace(each.what.topic);
  const cli::play_range all{.from_ns = recording_->first_ns(), .to_ns = recording_->last_ns() + 1, .stay = true};
  player_ = std::make_unique<cli::player>(*recording_, static_cast<cli::play_sink&>(*this), all, 1, true);
  late_ = start_thread([this] { show_late(); });
  player_->start();
  seek(start_ns());
}

recording_source::~recording_source() {
  player_->stop();
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  late_.join();
}

// As far as the files say without reading all samples.
std::string recording_source::describe() {
  std::map<std::string, recorded_figures> topics;
  const double seconds = static_cast<double>(span_ns(recording_->first_ns(), recording_->last_ns())) * 1e-9;
  for (const cli::merged_channel& each : recording_->channels()) {
    recorded_figures& topic = topics[each.what.topic];
    topic.name = each.what.topic;
    if (!is_untyped(each.what.type))
      topic.type = topic_type{.name = each.what.type.name, .message_encoding = each.what.type.message_encoding};
    if (auto publisher = publisher_of(each.what)) topic.publisher = std::move(publisher);
    const auto& counts = recording_->reader(each.file).summary().samples_of;
    if (each.id < counts.size()) topic.samples += counts[each.id];
    if (topic.publisher && !topic.missed) topic.missed = 0;  // only ORC's recorder notes what it missed
  }
  for (std::size_t file = 0; file < recording_->files(); ++file)
    for (const recording::named_metadata& each : recording_->reader(file).metadata()) add_loss(topics, each);
  // Topics whose last sample cannot be read have no size; the player reports why.
  (void)recording_->each_last_before(recording_->last_ns(), [&](const cli::merged_sample& last) {
    topics[recording_->channels()[last.channel].what.topic].last_size = last.what.data.size();
  });
  std::vector<recorded_figures> all;
  for (auto& [name, topic] : topics) {
    if (seconds > 0) topic.rate_hz = static_cast<double>(topic.samples) / seconds;
    all.push_back(std::move(topic));
  }
  return recording_text(all, realtime_ns());
}

std::shared_ptr<topic_feed> recording_source::open(const std::string& topic, interest what) {
  const std::lock_guard lock(mutex_);
  recorded_topic& found = topics_[topic];
  ++found.uses[static_cast<std::size_t>(what)];
  if (found.feed) return found.feed;
  found.feed = std::make_shared<topic_feed>(topic, news_, limits_);
  set_state(topic, found);
  if (!found.any) return found.feed;
  found.feed->set_type(found.type);
  show(found, clock::now());
  return found.feed;
}

void recording_source::set_state(const std::string& name, recorded_topic& topic) const {
  if (topic.any) return topic.feed->set_state({feed_state::kind::up, {}});
  const bool recorded = std::any_of(channels_.begin(), channels_.end(),
                                    [&](const cli::merged_channel& each) { return each.what.topic == name; });
  topic.feed->set_state({feed_state::kind::waiting, recorded ? "no sample of this topic was recorded before this time"
                                                             : "the recording does not have this topic"});
}

// With the mutex.
void recording_source::settle(bool& flag) noexcept {
  if (std::exchange(flag, false)) --waiting_;
}

void recording_source::close(const std::string& topic, interest what) noexcept {
  const std::lock_guard lock(mutex_);
  const auto at = topics_.find(topic);
  if (at == topics_.end()) return;
  auto& uses = at->second.uses;
  --uses[static_cast<std::size_t>(what)];
  if (std::any_of(uses.begin(), uses.end(), [](std::size_t count) { return count != 0; })) return;
  at->second.feed.reset();
  settle(at->second.waits);
  settle(at->second.lapses);
  if (!at->second.any) topics_.erase(at);
}

playback_status recording_source::status() const {
  const cli::play_status now = player_->status();
  playback_status found{std::min(now.position_ns, end_ns()), !now.paused && !now.ended, now.rate, now.failure};
  const std::lock_guard lock(problem_mutex_);
  for (std::string& each : player_->problems())
    if (problem_.empty()) problem_ = std::move(each);
  if (found.problem.empty()) found.problem = problem_;
  return found;
}

// Also shows what was received at this very moment.
void recording_source::seek(std::int64_t position_ns) {
  const std::lock_guard lock(problem_mutex_);
  (void)player_->problems();
  problem_.clear();
  player_->seek_to(std::clamp(position_ns, start_ns(), end_ns()) + 1);
}

// At the end it begins again.
void recording_source::play() {
  if (player_->status().at_end) seek(start_ns());
  player_->resume();
}

result recording_source::add(const cli::merged_channel& added) {
  const std::lock_guard lock(mutex_);
  channels_.push_back(added);
  return {};
}

std::vector<recording::channel> recording_source::channels_after(std::size_t known) {
  const std::lock_guard lock(mutex_);
  std::vector<recording::channel> found;
  for (std::size_t i = known; i < channels_.size(); ++i) found.push_back(channels_[i].what);
  return found;
}

const std::shared_ptr<const decoded_type>& recording_source::type_of(std::size_t channel) {
  const auto [at, is_new] = types_.try_emplace(channel);
  const type_description& type = channels_[channel].what.type;
  if (is_new && !is_untyped(type)) at->second = decoded(type);
  return at->second;
}

result recording_source::publish(const cli::played_sample& sample) {
  const auto now = clock::now();
  std::unique_lock lock(mutex_);
  recorded_topic& topic = topics_[channels_[sample.channel].what.topic];
  topic.share.reset();
  topic.share = limits_.keep(sample.data.size());
  // Memory that a larger sample left behind is no part of the share.
  if (!topic.share || topic.data.capacity() > 2 * sample.data.size()) topic.data = {};
  if (topic.share) topic.data.assign(sample.data.begin(), sample.data.end());
  topic.newest = sample;
  if (!topic.any || topic.channel != sample.channel) {
    topic.channel = sample.channel;
    topic.type = type_of(sample.channel);
    if (topic.feed) topic.feed->set_type(topic.type);
  }
  const bool is_first = !std::exchange(topic.any, true);
  settle(topic.lapses);
  if (!topic.feed) return {};
  if (is_first) set_state(topic.feed->topic(), topic);
  const auto feed = topic.feed;
  lock.unlock();  // decoding can take long
  feed->plot(sample.data, sample.stamp_ns, monotonic_ns(now));
  lock.lock();
  if (topic.feed != feed) return {};
  if (now >= topic.show_at) {
    show(topic, now);
  } else if (!std::exchange(topic.waits, true)) {
    if (++waiting_ == 1) changed_.notify_all();
  }
  return {};
}

void recording_source::jumped() {
  const auto now = clock::now();
  const std::lock_guard lock(mutex_);
  for (auto& [name, topic] : topics_) {
    settle(topic.waits);
    topic.any = false;
    topic.data.clear();
    if (!topic.feed) continue;
    topic.feed->restart_plots();
    topic.lapse_at = now + lapse_pause;
    if (!std::exchange(topic.lapses, true)) ++waiting_;
  }
  changed_.notify_all();
}

void recording_source::lapse(recorded_topic& topic) {
  settle(topic.lapses);
  topic.feed->forget();
  set_state(topic.feed->topic(), topic);
  topic.feed->announce();
}

void recording_source::show(recorded_topic& topic, clock::time_point now) {
  auto made = std::make_shared<fed_sample>();
  made->size = topic.newest.data.size();
  made->share = topic.share ? limits_.keep(made->size) : nullptr;
  if (made->share) made->data = topic.data;
  made->sequence = topic.newest.sequence;
  made->stamp_ns = topic.newest.stamp_ns;
  made->age_ns = span_ns(topic.newest.stamp_ns, topic.newest.time_ns);
  made->type = topic.type;
  settle(topic.waits);
  topic.show_at =
      now + (topic.uses[static_cast<std::size_t>(interest::messages)] != 0 ? recorded_message_pause : show_pause);
  topic.feed->show(std::move(made));
  topic.feed->announce();
}

void recording_source::show_late() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return stop_ || waiting_ != 0; });
    changed_.wait_for(lock, recorded_message_pause, [this] { return stop_; });
    if (stop_) return;
    const auto now = clock::now();
    for (auto& [name, topic] : topics_) {
      if (topic.waits && now >= topic.show_at) show(topic, now);
      if (topic.lapses && now >= topic.lapse_at) lapse(topic);
    }
  }
}

}  // namespace orc::web
