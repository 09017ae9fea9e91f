#include "tools/web/publish_desk.h"

#include <algorithm>
#include <utility>

#include "orc/types/json.h"
#include "tools/web/start_thread.h"

namespace orc::web {

namespace {

constexpr std::size_t max_waiting = 16;  // samples of one client
constexpr std::size_t max_topics = 256;
constexpr std::size_t max_client_topics = 32;
constexpr std::size_t max_sample_bytes = std::size_t{4} << 20;

// Returns why the type of a topic cannot be had; empty: `found` is it.
[[nodiscard]] std::string find_type(directory& from, const std::string& topic, type_description& found) {
  topic_state state;
  if (const result asked = from.describe(topic, state); !asked) return asked.error().message();
  if (!state.publication) return "nobody publishes topic '" + topic + "'";
  if (!state.publication->type) return "topic '" + topic + "' is untyped";
  const result asked = from.find_type(*state.publication->type, found);
  return asked ? "" : asked.error().message();
}

}  // namespace

publish_desk::publish_desk(const std::string& broker, std::function<void()> news)
    : broker_(broker), news_(std::move(news)) {
  (void)stop_bell_.fd();
  thread_ = start_thread([this] { run(); });
}

publish_desk::~publish_desk() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  stop_bell_.ring();
  changed_.notify_all();
  thread_.join();
}

publish_desk::client publish_desk::enter() {
  const std::lock_guard lock(mutex_);
  waiting_[++last_client_] = 0;
  return last_client_;
}

void publish_desk::leave(client who) noexcept {
  {
    const std::lock_guard lock(mutex_);
    std::erase_if(jobs_, [who](const job& each) { return each.who == who; });
    waiting_.erase(who);
    answers_.erase(who);
    jobs_.push_back({.who = who, .leaves = true});
  }
  changed_.notify_all();
}

bool publish_desk::submit(client who, std::string topic, std::string like, std::string json) {
  {
    const std::lock_guard lock(mutex_);
    const auto at = waiting_.find(who);
    if (at == waiting_.end() || at->second == max_waiting) return false;
    ++at->second;
    jobs_.push_back({who, false, std::move(topic), std::move(like), std::move(json)});
  }
  changed_.notify_all();
  return true;
}

std::vector<publish_answer> publish_desk::answers(client who) {
  const std::lock_guard lock(mutex_);
  const auto at = answers_.find(who);
  if (at == answers_.end()) return {};
  auto taken = std::move(at->second);
  answers_.erase(at);
  if (const auto waits = waiting_.find(who); waits != waiting_.end()) waits->second -= taken.size();
  return taken;
}

void publish_desk::run() {
  for (;;) {
    job next;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return stop_ || !jobs_.empty(); });
      if (stop_) return;
      next = std::move(jobs_.front());
      jobs_.pop_front();
    }
    if (next.leaves) {
      end_topics_of(next.who);
      continue;
    }
    publish_answer answer{next.topic, publish(next)};
    bool gone = false;
    {
      const std::lock_guard lock(mutex_);
      gone = !waiting_.contains(next.who);
      if (!gone) answers_[next.who].push_back(std::move(answer));
    }
    if (gone)
      end_topics_of(next.who);
    else
      news_();
  }
}

void publish_desk::end_topics_of(client who) {
  for (auto at = topics_.begin(); at != topics_.end();) {
    at->second.by.erase(who);
    if (!at->second.by.empty()) {
      ++at;
      continue;
    }
    (void)participant_->unregister_topic(at->first);
    at = topics_.erase(at);
  }
}

std::size_t publish_desk::topics_of(client who) const {
  return static_cast<std::size_t>(
      std::count_if(topics_.begin(), topics_.end(), [who](const auto& each) { return each.second.by.contains(who); }));
}

std::string publish_desk::publish(const job& what) {
  auto at = topics_.find(what.topic);
  if ((at == topics_.end() || !at->second.by.contains(what.who)) && topics_of(what.who) >= max_client_topics)
    return "you publish too many topics: 32 is the limit";
  if (at == topics_.end()) {
    if (topics_.size() == max_topics) return "too many topics are published from here: 256 is the limit";
    published_topic made;
    if (std::string problem = register_topic(what, made); !problem.empty()) return problem;
    at = topics_.emplace(what.topic, std::move(made)).first;
  }
  published_topic& topic = at->second;
  topic.by.insert(what.who);
  if (!what.like.empty() && what.like != topic.like)
    return "topic '" + what.topic + "' is published already, with another type";
  orc::publisher to = participant_->publisher(what.topic);
  result sent;
  if (topic.type) {
    std::vector<std::byte> sample;
    if (const result made = types::from_json(*topic.type, what.json, sample, max_sample_bytes); !made)
      return made.error().message();
    sent = to.send(sample.data(), sample.size());
  } else {
    sent = to.send(what.json.data(), what.json.size());
  }
  return sent ? "" : sent.error().message();
}

std::string publish_desk::register_topic(const job& what, published_topic& made) {
  type_description type;
  type.message_encoding = "json";
  if (!what.like.empty()) {
    directory from({.broker = broker_, .stop_fd = stop_bell_.fd()});
    if (std::string problem = find_type(from, what.like, type); !problem.empty()) return problem;
    if (const result done = types::decoder::make(type, made.type); !done) return done.error().message();
    made.like = what.like;
  }
  if (!participant_) {
    participant_options options;
    options.broker = broker_;
    options.name = "orc-web publish";
    participant_.emplace(std::move(options));
  }
  topic_options options;
  options.type = std::move(type);
  const result done = participant_->register_topic(what.topic, options);
  if (done) return {};
  // Without a broker the topic would stay registered, and no one could know.
  if (done.code() == errc::no_broker) (void)participant_->unregister_topic(what.topic);
  return done.error().message();
}

}  // namespace orc::web
