#include "tools/web/publish/free_topics.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "orc/directory.h"
#include "wire/name_space.h"

namespace orc::web {

namespace {

constexpr int subscribers_within_ms = 1000;

}  // namespace

std::size_t free_topics::topics_of(client who) const {
  return static_cast<std::size_t>(
      std::count_if(topics_.begin(), topics_.end(), [who](const auto& each) { return each.second.by.contains(who); }));
}

std::string free_topics::open(client who, const std::string& topic, const type_description& type, bool keep) {
  const auto at = topics_.find(topic);
  if (at != topics_.end() && at->second.by.contains(who) && at->second.type == hash_of(type)) return {};
  if (topics_of(who) >= max_client_topics)
    return "you publish too many topics: " + std::to_string(max_client_topics) + " is the limit";
  if (at != topics_.end()) {
    if (at->second.type != hash_of(type))
      return "topic '" + topic + "' is published from here already, with another type";
    at->second.by.insert(who);
    await_subscribers(topic);
    return {};
  }
  if (topics_.size() == max_topics)
    return "too many topics are published from here: " + std::to_string(max_topics) + " is the limit";
  if (std::string problem = register_topic(topic, type, keep); !problem.empty()) return problem;
  topics_.emplace(topic, free_topic{hash_of(type), {who}});
  return {};
}

std::string free_topics::register_topic(const std::string& topic, const type_description& type, bool keep) {
  if (!participant_) {
    participant_options options;
    options.broker = broker_;
    options.name = "orc-web publish";
    options.name_space = wire::no_name_space;
    participant_.emplace(std::move(options));
  }
  topic_options options;
  options.type = type;
  options.keep_last = keep;
  const result done = participant_->register_topic(topic, options).result();
  if (done) {
    await_subscribers(topic);
    return {};
  }
  // Without a broker the topic would stay registered, and no one could know.
  if (done.code() == errc::no_broker) (void)participant_->unregister_topic(topic);
  return done.error().message();
}

// A sample that is not kept reaches only who is connected.
void free_topics::await_subscribers(const std::string& topic) {
  topic_state state;
  directory from({.broker = broker_});
  if (from.describe(topic, state))
    (void)participant_->publisher(topic).wait_readers(state.subscription_count, subscribers_within_ms);
}

std::string free_topics::send(client who, const std::string& topic, std::span<const std::byte> sample) {
  if (!publishes(who, topic)) return "topic '" + topic + "' is not yours to publish";
  const result sent = participant_->publisher(topic).send(sample.data(), sample.size());
  return sent ? "" : sent.error().message();
}

void free_topics::close(client who, const std::string& topic) {
  const auto at = topics_.find(topic);
  if (at == topics_.end() || at->second.by.erase(who) == 0 || !at->second.by.empty()) return;
  (void)participant_->unregister_topic(topic);
  topics_.erase(at);
}

void free_topics::leave(client who) {
  for (auto at = topics_.begin(); at != topics_.end();) {
    const auto next = std::next(at);
    close(who, std::string(at->first));
    at = next;
  }
}

}  // namespace orc::web
