#include "tools/web/publish_desk.h"

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
  if (!state.publication) return "nobody publishes topic '" + topic + "'";
  if (!state.publication->type) return "topic '" + topic + "' is untyped";
  const result asked = from.find_type(*state.publication->type, found);
  return asked ? "" : asked.error().message();
}

}  // namespace

// The types of the topics that are published so.
class publish_desk::json_topics {
 public:
  json_topics(std::string broker, int stop_fd) : broker_(std::move(broker)), stop_fd_(stop_fd) {}

  [[nodiscard]] std::string publish(free_topics& to, client who, const std::string& topic, const std::string& like,
                                    const std::string& json) {
    auto at = known_.find(topic);
    if (at == known_.end() || !to.has(topic)) {
      std::erase_if(known_, [&to](const auto& each) { return !to.has(each.first); });
      json_topic made;
      if (std::string problem = describe(like, made); !problem.empty()) return problem;
      if (std::string problem = to.open(who, topic, made.type); !problem.empty()) return problem;
      at = known_.insert_or_assign(topic, std::move(made)).first;
    } else if (!like.empty() && like != at->second.like) {
      return "topic '" + topic + "' is published already, with another type";
    } else if (!to.publishes(who, topic)) {
      if (std::string problem = to.open(who, topic, at->second.type); !problem.empty()) return problem;
    }
    if (!at->second.decoder) return to.send(who, topic, std::as_bytes(std::span(json)));
    std::vector<std::byte> sample;
    if (const result made = types::from_json(*at->second.decoder, json, sample, max_sample_bytes); !made)
      return made.error().message();
    return to.send(who, topic, sample);
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

publish_desk::publish_desk(publish_queue& queue, std::string broker)
    : queue_(queue), topics_(std::make_shared<json_topics>(std::move(broker), queue.stop_fd())) {}

publish_desk::~publish_desk() = default;

bool publish_desk::submit(client who, std::string topic, std::string like, std::string json) {
  const std::size_t bytes = json.size();
  return queue_.submit(who, topic, bytes,
                       [types = topics_, who, topic, like = std::move(like), json = std::move(json)](free_topics& to) {
                         return types->publish(to, who, topic, like, json);
                       });
}

}  // namespace orc::web
