// The changes that the topic map reports to watchers.
#include <algorithm>
#include <limits>
#include <map>

#include "support/topic_map_fixture.h"

using namespace orc;
using namespace orc::test;
using fixture = topic_map_fixture;

namespace {

constexpr std::size_t any_number = std::numeric_limits<std::size_t>::max();

// Follows a map page by page, as a participant's directory does.
struct follower {
  explicit follower(std::vector<std::string> patterns, bool with_participants = false) {
    asks.topics = std::move(patterns);
    asks.participants = with_participants;
  }
  // Asks for one page. `steps`: the work that the map may spend on it.
  wire::changes ask(const topic_map& map, std::size_t steps = any_number) {
    auto page = map.changes_since(asks, steps);
    asks.position = page.position;
    if (page.reset) {
      ++resets;
      topics.clear();
      participants.clear();
    }
    for (const auto& each : page.topics) {
      if (each.publication || each.subscription_count != 0)
        topics[each.topic] = each;
      else
        topics.erase(each.topic);
    }
    for (const auto& each : page.participants) {
      if (each.gone)
        participants.erase(each.participant);
      else
        participants[each.participant] = each.name;
    }
    return page;
  }
  std::size_t catch_up(const topic_map& map, std::size_t steps = any_number) {
    std::size_t pages = 1;
    while (ask(map, steps).more) ++pages;
    return pages;
  }
  [[nodiscard]] std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (const auto& [name, state] : topics) all.push_back(name);
    return all;
  }

  wire::watch asks;
  std::map<std::string, wire::topic_state> topics;
  std::map<wire::id, std::string> participants;
  int resets = 0;
};

using strings = std::vector<std::string>;

void unregister(fixture& f, const std::string& from, const std::string& topic, std::uint64_t publication) {
  REQUIRE(f.map.unregister_topic(at(from), {topic, identity(publication)}, f.now));
}

}  // namespace

TEST_CASE("topic map changes: a watcher learns what exists, what comes and what goes") {
  fixture f;
  f.join("a", 1);
  f.registered("a", registration("arm/one", 1));
  follower all({"**"}, true);
  CHECK(all.ask(f.map).reset);
  CHECK(all.names() == strings{"arm/one"});
  CHECK(all.participants.size() == 1);
  CHECK(all.ask(f.map).topics.empty());

  f.registered("a", registration("arm/two", 2));
  f.join("b", 2);
  f.requested("b", "arm/one", 3);
  const auto page = all.ask(f.map);
  CHECK_FALSE(page.reset);
  CHECK(page.topics.size() == 2);
  CHECK(all.topics["arm/one"].subscription_count == 1);
  CHECK(all.topics["arm/two"].publication->publication == identity(2));
  CHECK(all.participants.size() == 2);

  unregister(f, "a", "arm/two", 2);
  f.map.goodbye(at("b"), f.now);
  all.catch_up(f.map);
  CHECK(all.names() == strings{"arm/one"});
  CHECK(all.topics["arm/one"].subscription_count == 0);
  CHECK(all.participants.size() == 1);
  CHECK(all.resets == 1);
}

TEST_CASE("topic map changes: what came and went is reported as gone, what went and came as it is now") {
  fixture f;
  f.join("a", 1);
  follower all({"**"});
  all.catch_up(f.map);
  f.registered("a", registration("brief", 1));
  unregister(f, "a", "brief", 1);
  f.registered("a", registration("again", 2));
  unregister(f, "a", "again", 2);
  f.registered("a", registration("again", 3));
  all.catch_up(f.map);
  CHECK(all.names() == strings{"again"});
  CHECK(all.topics["again"].publication->publication == identity(3));
}

TEST_CASE("topic map changes: an equal registration is no change, a new type or endpoint is") {
  fixture f;
  f.join("a", 1);
  f.registered("a", registration("t", 1));
  follower all({"**"});
  all.catch_up(f.map);
  f.registered("a", registration("t", 1));
  CHECK(all.ask(f.map).topics.empty());
  f.registered("a", registration("t", 1, "ipc:///b"));
  CHECK(all.ask(f.map).topics.size() == 1);
  f.registered("a", typed("t", 1, "a schema"));
  CHECK(all.ask(f.map).topics.size() == 1);
  f.registered("a", typed("t", 1, "a schema"));
  CHECK(all.ask(f.map).topics.empty());
}

TEST_CASE("topic map changes: a watcher hears of what its patterns match, and of participants if it asks") {
  fixture f;
  f.join("a", 1);
  const strings topics{"arm/left/position", "arm/position", "leg/position"};
  for (std::uint64_t i = 0; i < topics.size(); ++i) f.registered("a", registration(topics[i], i + 1));
  follower arm({"arm/*"});
  follower several({"arm/**", "leg/position"});
  follower nobody({}, true);
  for (auto* each : {&arm, &several, &nobody}) each->catch_up(f.map);
  CHECK(arm.names() == strings{"arm/position"});
  CHECK(arm.participants.empty());
  CHECK(several.names() == topics);
  CHECK(nobody.names().empty());
  CHECK(nobody.participants.size() == 1);
}

TEST_CASE("topic map changes: what does not fit into a frame comes in several") {
  fixture f;
  f.join("a", 1);
  const std::string long_name(200, 'x');
  for (std::uint64_t i = 0; i < 2'000; ++i) f.registered("a", registration(long_name + std::to_string(i), i + 1));
  follower all({"**"});
  for (;;) {
    const auto page = all.ask(f.map);
    const auto frame = wire::encode({1, page});
    CHECK(frame.size() <= wire::max_control_bytes);
    const auto decoded = wire::decode(std::as_bytes(std::span(frame.data(), frame.size())));
    REQUIRE(decoded);
    CHECK(std::get<wire::changes>(decoded->content) == page);
    if (!page.more) break;
  }
  CHECK(all.topics.size() == 2'000);
  CHECK(all.resets == 1);
}

TEST_CASE("topic map changes: a watcher that reads small pages misses nothing that changes meanwhile") {
  fixture f;
  f.join("a", 1);
  for (std::uint64_t i = 0; i < 100; ++i) f.registered("a", registration("old/" + std::to_string(i), i + 1));
  follower all({"**"});
  std::uint64_t next = 0;
  while (all.ask(f.map, 1).more) {
    if (next < 50) {
      unregister(f, "a", "old/" + std::to_string(next), next + 1);
      f.registered("a", registration("new/" + std::to_string(next), 1'000 + next));
      ++next;
    }
  }
  CHECK(next == 50);
  CHECK(all.topics.size() == 100);
  CHECK(all.resets == 1);
}

TEST_CASE("topic map changes: a watcher that was away for too long begins anew, and so does a new one only once") {
  topic_map_limits limits;
  limits.gone = 10;
  fixture f(limits);
  f.join("a", 1);
  f.registered("a", registration("stays", 1));
  follower away({"**"});
  away.catch_up(f.map);
  for (std::uint64_t i = 0; i < 20; ++i) {
    f.registered("a", registration("brief", 10 + i));
    unregister(f, "a", "brief", 10 + i);
  }
  away.catch_up(f.map);
  CHECK(away.resets == 2);
  CHECK(away.names() == strings{"stays"});
  // A topic that exists is reported, although it changed before what the log forgot.
  follower late({"**"});
  CHECK(late.catch_up(f.map, 1) > 1);
  CHECK(late.resets == 1);
  CHECK(late.names() == strings{"stays"});
}

TEST_CASE("topic map changes: the topics of a participant that is gone go") {
  fixture f;
  f.join("a", 1);
  for (std::uint64_t i = 0; i < 1'000; ++i) f.registered("a", registration("t/" + std::to_string(i), i + 1));
  follower all({"**"}, true);
  all.catch_up(f.map);
  CHECK(all.topics.size() == 1'000);
  f.map.retire(process(1).participant);
  f.clean_up();
  all.catch_up(f.map);
  CHECK(all.topics.empty());
  CHECK(all.participants.empty());
  CHECK(all.resets == 1);
}
