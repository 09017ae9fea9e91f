// The topics that clients publish: those that no other program publishes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>

#include "orc/participant.h"

namespace orc::web {

// A thread at a time. Calls wait for the broker when they register a topic.
class free_topics {
 public:
  using client = std::uint64_t;
  static constexpr std::size_t max_topics = 256;
  static constexpr std::size_t max_client_topics = 64;

  explicit free_topics(std::string broker) : broker_(std::move(broker)) {}

  // Registers the topic, and gives subscribers that wait for it a moment to connect. `keep`: subscribers that come
  // later get the last sample; off by default, because clients send commands. Clients may publish a topic together if
  // they give it the same type; the first one decides `keep`. Returns why this client may not publish it; empty: it
  // may.
  [[nodiscard]] std::string open(client who, const std::string& topic, const type_description& type, bool keep = false);
  // Returns why the sample was not sent; empty: it was.
  [[nodiscard]] std::string send(client who, const std::string& topic, std::span<const std::byte> sample);
  // The topic ends, unless other clients publish it too. leave(): all of the client's topics.
  void close(client who, const std::string& topic);
  void leave(client who);

  [[nodiscard]] bool has(const std::string& topic) const { return topics_.contains(topic); }
  [[nodiscard]] bool publishes(client who, const std::string& topic) const {
    const auto at = topics_.find(topic);
    return at != topics_.end() && at->second.by.contains(who);
  }

 private:
  struct free_topic {
    std::uint64_t type = 0;  // hash_of()
    std::set<client> by = {};
  };

  [[nodiscard]] std::size_t topics_of(client who) const;
  [[nodiscard]] std::string register_topic(const std::string& topic, const type_description& type, bool keep);
  void await_subscribers(const std::string& topic);

  const std::string broker_;
  std::optional<participant> participant_;
  std::map<std::string, free_topic> topics_;
};

}  // namespace orc::web
