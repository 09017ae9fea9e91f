#include "tools/web/publish/json_publisher.h"

#include <cstddef>
#include <map>
#include <span>
#include <utility>

#include "orc/directory.h"
#include "orc/types/decoder.h"
#include "orc/types/json.h"

namespace orc::web {

namespace {

constexpr std::size_t max_sample_bytes = std::size_t{4} << 20;

// Returns why the type of a topic cannot be had; empty: `found` is it.
[[nodiscard]] std::string find_type(directory& from, const std::string& topic, type_description& found) {
  topic_state state;
  if (const result asked = from.describe(topic, state); !asked) return asked.error().message();
  if (!state.publication) return "no program publishes topic '" + topic + "'";
  if (!state.publication->type) return "topic '" + topic + "' is untyped";
  const result asked = from.find_type(*state.publication->type, found);
  return asked ? "" : asked.error().message();
}

}  // namespace

// The types of the topics that are published so.
class json_publisher::json_topics {
 public:
  json_topics(std::string broker, int stop_fd) : broker_(std::move(broker)), stop_fd_(stop_fd) {}

  [[nodiscard]] std::string publish(free_topics& to, client who, const json_sample& sample) {
    auto at = known_.find(sample.topic);
    if (at == known_.end() || !to.has(sample.topic)) {
      std::erase_if(known_, [&to](const auto& each) { return !to.has(each.first); });
      json_topic made;
      if (std::string problem = describe(sample.like, made); !problem.empty()) return problem;
      at = known_.insert_or_assign(sample.topic, std::move(made)).first;
    } else if (!sample.like.empty() && sample.like != at->second.like) {
      return "topic '" + sample.topic + "' is published from here already, with another type: end it first";
    }
    // Read before the topic is registered: a sample that cannot be sent must not take the name.
    std::vector<std::byte> bytes;
    if (at->second.decoder) {
      if (const result made = types::from_json(*at->second.decoder, sample.value, bytes, max_sample_bytes); !made)
        return made.error().message();
    }
    if (!to.publishes(who, sample.topic)) {
      if (std::string problem = to.open(who, sample.topic, at->second.type, sample.keep); !problem.empty())
        return problem;
    }
    return to.send(who, sample.topic,
                   at->second.decoder ? std::span<const std::byte>(bytes) : std::as_bytes(std::span(sample.value)));
  }

 private:
  struct json_topic {
    std::string like = {};
    type_description type = {};
    std::unique_ptr<types::decoder> decoder = {};  // null: JSON as it is
  };

  [[nodiscard]] std::string describe(const std::string& like, json_topic& made) const {
    made.like = like;
    if (like.empty()) {
      made.type.message_encoding = "json";
      return {};
    }
    directory from({.broker = broker_, .stop_fd = stop_fd_});
    if (std::string problem = find_type(from, like, made.type); !problem.empty()) return problem;
    const result done = types::decoder::make(made.type, made.decoder);
    return done ? "" : done.error().message();
  }

  const std::string broker_;
  const int stop_fd_;
  std::map<std::string, json_topic> known_;
};

json_publisher::json_publisher(publish_queue& queue, std::string broker)
    : queue_(queue), topics_(std::make_shared<json_topics>(std::move(broker), queue.stop_fd())) {}

json_publisher::~json_publisher() = default;

bool json_publisher::submit(client who, json_sample sample) {
  std::string topic = sample.topic;
  const std::size_t bytes = sample.value.size();
  return queue_.submit(
      who, std::move(topic), bytes,
      [types = topics_, who, sample = std::move(sample)](free_topics& to) { return types->publish(to, who, sample); });
}

}  // namespace orc::web
