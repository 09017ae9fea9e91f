#include "tools/web/live/live_channels.h"

#include <poll.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

#include "tools/web/start_thread.h"

namespace orc::web {

namespace {

using namespace std::chrono_literals;

constexpr auto answer_patience = std::chrono::milliseconds(500);  // for one answer of the broker
constexpr auto first_schema_retry = 200ms;     // a schema comes to the broker a little after its topic
constexpr auto slowest_schema_retry = 5000ms;  // if it comes at all
constexpr auto fetch_time = 50ms;              // then clients learn what is there
constexpr auto list_pause = 20ms;              // changes that come meanwhile make one list
constexpr auto gone_patience = 5s;             // for a publisher that restarts
constexpr auto longest_wait = 1s;

}  // namespace

live_channels::live_channels(std::string broker, bool all, std::function<void()> news)
    : broker_(std::move(broker)), all_(all), news_(std::move(news)) {
  thread_ = start_thread([this] { run(); });
}

live_channels::~live_channels() {
  attendance_.stop();
  thread_.join();
}

channel_list live_channels::newest() {
  const std::lock_guard lock(mutex_);
  return newest_;
}

void live_channels::run() {
  while (attendance_.await()) follow();
}

// Returns when no client has been there for a while.
void live_channels::follow() {
  directory from({.broker = broker_, .broker_timeout = answer_patience, .stop_fd = attendance_.stop_fd()});
  directory_watch watch = from.watch({.topics = {"**"}});
  for (auto now = clock::now(); attendance_.goes_on(now); now = clock::now()) {
    take_changes(watch);
    fetch_types(from);
    end_gone(clock::now());
    publish();
    std::array<pollfd, 2> items{{{attendance_.stop_fd(), POLLIN, 0}, {watch.fd(), POLLIN, 0}}};
    if (::poll(items.data(), 1, static_cast<int>(std::chrono::milliseconds(list_pause).count())) > 0) break;
    ::poll(items.data(), items.size(), wait_ms(items[1].fd >= 0, clock::now()));
  }
  registry_.clear();
  topics_.clear();
  types_.clear();
  problems_.clear();
  end_at_ = clock::time_point::max();
  const std::lock_guard lock(mutex_);
  newest_ = {newest_.number + 1, nullptr, nullptr};
}

void live_channels::take_changes(directory_watch& watch) {
  const auto now = clock::now();
  directory_change change;
  while (watch.next_change(change, 0)) {
    if (change.what == directory_change::kind::topic)
      take(change.topic, now);
    else if (change.what == directory_change::kind::topic_gone)
      take_gone(change.topic.name, now);
  }
}

void live_channels::take(const topic_state& topic, clock::time_point now) {
  if (!all_ && is_reserved(topic.name)) return;
  if (!topic.publication) return take_gone(topic.name, now);
  known_topic& known = topics_[topic.name];
  known.gone_at.reset();
  if (topic.publication->type) return set_type(topic.name, known, *topic.publication->type);
  registry_.remove(topic.name);
  drop_type(topic.name, known);
  topics_.erase(topic.name);
}

void live_channels::take_gone(const std::string& name, clock::time_point now) {
  const auto at = topics_.find(name);
  if (at == topics_.end() || at->second.gone_at) return;
  at->second.gone_at = now + gone_patience;
  end_at_ = std::min(end_at_, *at->second.gone_at);
}

void live_channels::end_gone(clock::time_point now) {
  if (now < end_at_) return;
  end_at_ = clock::time_point::max();
  for (auto at = topics_.begin(); at != topics_.end();) {
    known_topic& topic = at->second;
    if (!topic.gone_at || now < *topic.gone_at) {
      if (topic.gone_at) end_at_ = std::min(end_at_, *topic.gone_at);
      ++at;
      continue;
    }
    registry_.remove(at->first);
    drop_type(at->first, topic);
    at = topics_.erase(at);
  }
}

void live_channels::set_type(const std::string& name, known_topic& topic, const topic_type& type) {
  type_key key{type.hash, type.name, type.message_encoding, type.schema_encoding, type.schema_size};
  if (topic.type == key) return;
  registry_.remove(name);
  drop_type(name, topic);
  const auto at = types_.try_emplace(key).first;
  at->second.what = type;
  at->second.topics.insert(name);
  topic.type = std::move(key);
  if (at->second.made) add_channel(name, at->second);
}

void live_channels::drop_type(const std::string& name, known_topic& topic) {
  if (!topic.type) return;
  const auto at = types_.find(*topic.type);
  at->second.topics.erase(name);
  if (at->second.topics.empty()) types_.erase(at);
  topic.type.reset();
}

void live_channels::fetch_types(directory& from) {
  const auto began = clock::now();
  for (auto& [key, type] : types_) {
    if (type.made || type.failed || type.due > began) continue;
    fetch(from, type, clock::now());
    if (clock::now() - began > fetch_time) return;
  }
}

void live_channels::fetch(directory& from, known_type& type, clock::time_point now) {
  type_description whole;
  const result found = from.find_type(type.what, whole);
  if (!found && (found.code() == errc::unknown_type || found.code() == errc::no_broker)) {
    type.pause = std::clamp<clock::duration>(type.pause * 2, first_schema_retry, slowest_schema_retry);
    type.due = now + type.pause;
    return;
  }
  std::string problem = found ? "" : found.error().message();
  if (found) type.made = make_foxglove_type(whole, *schemas_, problem);
  type.failed = !type.made;
  if (type.failed) return report("topic '" + *type.topics.begin() + "' is not shown: " + problem);
  for (const std::string& topic : type.topics) add_channel(topic, type);
}

void live_channels::add_channel(const std::string& topic, const known_type& type) {
  if (!registry_.set(topic, type.made))
    report("there are too many topics: " + std::to_string(channel_registry::max_channels) + " are shown");
}

void live_channels::report(const std::string& problem) {
  if (problems_.size() == max_problems || std::find(problems_.begin(), problems_.end(), problem) != problems_.end())
    return;
  problems_.push_back(problem);
  new_problems_ = true;
}

void live_channels::publish() {
  if (!registry_.changed() && !new_problems_) return;
  auto channels = registry_.take();
  {
    const std::lock_guard lock(mutex_);
    ++newest_.number;
    newest_.channels = std::move(channels);
    if (new_problems_) newest_.problems = std::make_shared<const std::vector<std::string>>(problems_);
  }
  new_problems_ = false;
  news_();
}

int live_channels::wait_ms(bool watches, clock::time_point now) const {
  auto next = now + (watches ? clock::duration(longest_wait) : clock::duration(first_schema_retry));
  next = std::min(next, end_at_);
  for (const auto& [key, type] : types_)
    if (!type.made && !type.failed) next = std::min(next, type.due);
  return next <= now ? 0 : static_cast<int>(std::chrono::ceil<std::chrono::milliseconds>(next - now).count());
}

}  // namespace orc::web
