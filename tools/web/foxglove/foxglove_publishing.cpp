#include "tools/web/foxglove/foxglove_publishing.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "orc/schema.h"

namespace orc::web {

namespace {

using namespace std::chrono_literals;

constexpr auto open_again = 1s;  // a topic that could not be registered

}  // namespace

// Used in the queue's thread, but for the name.
class foxglove_publishing::client_topic {
 public:
  client_topic(std::string topic, type_description type) : topic_(std::move(topic)), type_(std::move(type)) {}

  [[nodiscard]] const std::string& topic() const noexcept { return topic_; }

  [[nodiscard]] std::string open(free_topics& to, publish_queue::client who) {
    if (to.publishes(who, topic_)) return {};
    const auto now = std::chrono::steady_clock::now();
    if (now < again_at_) return problem_;
    const result readable = check_schema(type_);
    problem_ = readable ? to.open(who, topic_, type_) : readable.error().message();
    if (!problem_.empty()) again_at_ = now + open_again;
    return problem_;
  }

 private:
  const std::string topic_;
  const type_description type_;
  std::string problem_;
  std::chrono::steady_clock::time_point again_at_ = {};
};

std::string foxglove_publishing::advertise(const foxglove_client_channel& channel) {
  const std::string name = "topic '" + channel.topic + "' cannot be published: ";
  if (channels_.contains(channel.id)) return name + "its channel id is in use";
  if (channels_.size() == max_foxglove_client_channels)
    return name + std::to_string(max_foxglove_client_channels) + " is the limit";
  if (channel.topic.empty()) return "the topic has no name";
  const auto has_topic = [&](const auto& each) { return each.second->topic() == channel.topic; };
  if (std::any_of(channels_.begin(), channels_.end(), has_topic)) return name + "you publish it already";
  auto made = std::make_shared<client_topic>(channel.topic, channel.type);
  const auto open = [made, who = who_](free_topics& to) { return made->open(to, who); };
  if (!queue_.submit(who_, channel.topic, channel.type.schema.size(), open))
    return name + "too much waits to be published";
  channels_.emplace(channel.id, std::move(made));
  return {};
}

std::string foxglove_publishing::unadvertise(std::uint32_t id) {
  const auto at = channels_.find(id);
  if (at == channels_.end()) return "channel " + std::to_string(id) + " is not advertised";
  queue_.end(who_, at->second->topic());
  channels_.erase(at);
  return {};
}

std::string foxglove_publishing::send(std::uint32_t id, std::span<const std::byte> sample) {
  const auto at = channels_.find(id);
  if (at == channels_.end()) return "channel " + std::to_string(id) + " is not advertised";
  const auto bytes = std::make_shared<const std::vector<std::byte>>(sample.begin(), sample.end());
  const auto send = [topic = at->second, who = who_, bytes](free_topics& to) {
    std::string problem = topic->open(to, who);
    return problem.empty() ? to.send(who, topic->topic(), *bytes) : problem;
  };
  if (queue_.submit(who_, at->second->topic(), sample.size(), send)) return {};
  return "samples of topic '" + at->second->topic() + "' come faster than they can be published";
}

std::vector<std::string> foxglove_publishing::problems() {
  std::vector<std::string> found;
  for (publish_answer& each : queue_.answers(who_))
    if (!each.problem.empty()) found.push_back("topic '" + each.topic + "' cannot be published: " + each.problem);
  return found;
}

}  // namespace orc::web
