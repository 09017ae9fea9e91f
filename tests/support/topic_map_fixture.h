// A topic map with connections that have names, participants that have numbers, and a time made up.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "broker/map/topic_map.h"
#include "orc/type_description.h"
#include "support/catch.h"

namespace orc::test {

// The number of a connection that has a name here.
inline topic_map::routing at(std::string_view name) { return std::hash<std::string_view>{}(name); }

inline wire::id identity(std::uint64_t n) { return {1, n}; }

inline wire::hello process(std::uint64_t n) {
  return {identity(n), "program" + std::to_string(n), "some-host", static_cast<std::uint32_t>(1'000 + n), n, "",
          {7, n}};
}

inline peer user(std::uint32_t uid) {
  return {.way = peer::via::ipc, .uid = uid, .pid = 0, .directory = {}, .address = {}};
}
inline peer host(const std::string& address) {
  return {.way = peer::via::tcp, .uid = 0, .pid = 0, .directory = {}, .address = address};
}

inline wire::register_topic registration(const std::string& topic, std::uint64_t publication,
                                         const std::string& address = "ipc:///a") {
  return {topic, identity(publication), {{wire::transport::ipc, address}}, {}};
}

inline wire::type_reference reference_to(const type_description& type) {
  return {type.name, type.schema_encoding, type.message_encoding, hash_of(type),
          static_cast<std::uint32_t>(type.schema.size())};
}

inline wire::register_topic typed(const std::string& topic, std::uint64_t publication, const std::string& schema) {
  auto request = registration(topic, publication);
  request.type = reference_to({"T", "flatbuffer", "flatbuffer", schema});
  return request;
}

struct topic_map_fixture {
  explicit topic_map_fixture(topic_map_limits limits = {}) : map(std::chrono::seconds(3), limits) {}

  topic_map::done hello(const std::string& from, const wire::hello& who, const peer& by = user(1'000)) {
    return map.hello(at(from), by, who, now);
  }
  void join(const std::string& from, std::uint64_t participant, const peer& by = user(1'000)) {
    REQUIRE(hello(from, process(participant), by));
  }
  wire::topic_state registered(const std::string& from, const wire::register_topic& what) {
    auto result = map.register_topic(at(from), what, now);
    if (auto* wrong = std::get_if<wire::error>(&result)) FAIL(wrong->text);
    REQUIRE(std::holds_alternative<wire::topic_state>(result));
    return std::get<wire::topic_state>(result);
  }
  wire::error register_error(const std::string& from, const wire::register_topic& what) {
    auto result = map.register_topic(at(from), what, now);
    REQUIRE(std::holds_alternative<wire::error>(result));
    return std::get<wire::error>(result);
  }
  wire::topic_state requested(const std::string& from, const std::string& topic, std::uint64_t subscription) {
    auto result = map.request_topic(at(from), {topic, identity(subscription)});
    REQUIRE(result);
    return *result;
  }
  wire::error request_error(const std::string& from, const std::string& topic, std::uint64_t subscription) {
    auto result = map.request_topic(at(from), {topic, identity(subscription)});
    REQUIRE_FALSE(result);
    return result.error();
  }
  wire::topic_state described(const std::string& topic, const wire::id& after = {}) {
    auto result = map.describe({topic, after}, now);
    REQUIRE(result);
    return *result;
  }
  // The events that are due, in parts for `most` participants each.
  std::vector<topic_map::event> taken(std::size_t most = 1'000'000) {
    std::vector<topic_map::event> all;
    for (;;) {
      std::size_t budget = most;
      auto next = map.next_event(now, budget);
      if (!next) return all;
      all.push_back(std::move(*next));
    }
  }
  void clean_up() {
    while (!map.clean()) map.clean_up(now, 100);
  }

  topic_map map;
  topic_map::time now{std::chrono::hours(1)};
};

}  // namespace orc::test
