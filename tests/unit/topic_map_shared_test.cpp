// The rules of shared topics in the broker's map: several participants publish one name, and none mixes it with an
// exclusive registration.
#include <algorithm>
#include <random>

#include "support/topic_map_fixture.h"

using namespace orc;
using namespace orc::test;
using fixture = topic_map_fixture;

namespace {

wire::register_topic shared(const std::string& topic, std::uint64_t publication,
                            const std::string& address = "ipc:///a") {
  auto request = registration(topic, publication, address);
  request.shared = true;
  return request;
}

std::vector<wire::id> ids_of(const wire::topic_state& state) {
  std::vector<wire::id> ids;
  for (const auto& each : state.publications) ids.push_back(each.publication);
  return ids;
}

std::string refusal(fixture& f, const std::string& from, const wire::register_topic& what) {
  auto result = f.map.register_topic(at(from), what, f.now);
  REQUIRE(std::holds_alternative<topic_map::held>(result));
  return std::get<topic_map::held>(result).refusal;
}

}  // namespace

TEST_CASE("shared topics in the map: several participants publish one, and each move is an event") {
  fixture f;
  f.join("reader", 1);
  f.join("b", 2);
  f.join("a", 3);
  f.requested("reader", "stop", 10);
  const auto first = f.registered("b", shared("stop", 21));
  CHECK(first.shared);
  CHECK_FALSE(first.publication);
  CHECK(ids_of(first) == std::vector{identity(21)});
  f.registered("a", shared("stop", 20));
  auto events = f.taken();
  REQUIRE_FALSE(events.empty());
  CHECK(ids_of(events.back().state) == std::vector{identity(20), identity(21)});
  CHECK(f.requested("reader", "stop", 10) == events.back().state);
  CHECK(f.map.unregister_topic(at("b"), {"stop", identity(21)}, f.now));
  events = f.taken();
  REQUIRE(events.size() == 1);
  CHECK(events[0].state.shared);
  CHECK(ids_of(events[0].state) == std::vector{identity(20)});
  f.map.goodbye(at("a"), f.now);
  events = f.taken();
  REQUIRE(events.size() == 1);
  CHECK_FALSE(events[0].state.shared);
  CHECK(events[0].state.publications.empty());
}

TEST_CASE("shared topics in the map: shared and exclusive do not mix, in either order") {
  fixture f;
  f.join("a", 1);
  f.join("b", 2);
  f.registered("a", shared("stop", 10));
  CHECK(refusal(f, "b", registration("stop", 20)).find("is shared") != std::string::npos);
  f.registered("a", registration("arm", 11));
  CHECK(refusal(f, "b", shared("arm", 21)).find("is published by program1") != std::string::npos);
  // The same participant may change its own, while no other shares it.
  f.registered("a", shared("arm", 12));
  f.registered("b", shared("arm", 22));
  CHECK(refusal(f, "a", registration("arm", 13)).find("program2") != std::string::npos);
  // Once all have left, the name is as free as any other.
  f.map.goodbye(at("b"), f.now);
  const auto state = f.registered("a", registration("arm", 13));
  CHECK_FALSE(state.shared);
  REQUIRE(state.publication);
  CHECK(state.publications.empty());
}

TEST_CASE("shared topics in the map: a participant publishes once, and ids are not taken from others") {
  fixture f;
  f.join("a", 1);
  f.join("b", 2);
  f.registered("a", shared("stop", 10));
  CHECK(ids_of(f.registered("a", shared("stop", 11))) == std::vector{identity(11)});
  CHECK(f.register_error("b", shared("stop", 11)).code == wire::error_code::bad_request);
  CHECK(f.map.unregister_topic(at("b"), {"stop", identity(11)}, f.now));  // not its own: without effect
  CHECK(ids_of(f.described("stop")) == std::vector{identity(11)});
  // The id of one that has left is free, and what is left of that one does not end the new one.
  f.map.retire(identity(1));
  CHECK(ids_of(f.registered("b", shared("stop", 11))) == std::vector{identity(11)});
  f.clean_up();
  CHECK(ids_of(f.described("stop")) == std::vector{identity(11)});
}

TEST_CASE("shared topics in the map: a stranger's publications are bounded, and leave room in the frame") {
  fixture f({.participants = 4'096});
  f.join("reader", 1, user(1));
  f.requested("reader", "stop", 10);
  std::size_t accepted = 0;
  for (std::uint64_t n = 0; n < 1'000; ++n) {
    const std::string name = "stranger" + std::to_string(n);
    f.join(name, 100 + n, user(2));
    auto result = f.map.register_topic(at(name), shared("stop", 100 + n), f.now);
    if (std::holds_alternative<wire::topic_state>(result))
      ++accepted;
    else
      CHECK(std::get<wire::error>(result).code == wire::error_code::limit);
  }
  CHECK(accepted == wire::max_publishers * 7 / 8);
  CHECK(f.described("stop").publications.size() == accepted);
  CHECK(f.map.description_bytes() < 10'000);

  // Others still find room.
  f.join("lab", 50, user(1));
  f.registered("lab", shared("stop", 50));
  f.join("another host", 51, host("192.0.2.7"));
  f.registered("another host", shared("stop", 51));

  // With the longest endpoints and names there are fewer, and the state still fits into a frame.
  fixture g;
  g.join("reader", 1, user(1));
  for (std::uint64_t n = 0; n < 300; ++n) REQUIRE(g.map.request_topic(at("reader"), {"stop", identity(1'000 + n)}));
  accepted = 0;
  for (std::uint64_t n = 0; n < 64; ++n) {
    const std::string name = "stranger" + std::to_string(n);
    g.join(name, 100 + n, user(2));
    auto request = shared("stop", 100 + n);
    request.endpoints.assign(16, {wire::transport::ipc, std::string(255, 'x')});
    if (std::holds_alternative<wire::topic_state>(g.map.register_topic(at(name), request, g.now))) ++accepted;
  }
  CHECK(accepted > 5);
  for (std::uint64_t n = 0; n < 64; ++n) {  // now they take long names
    auto who = process(100 + n);
    who.name = std::string(255, 'n');
    REQUIRE(g.hello("stranger" + std::to_string(n), who, user(2)));
  }
  std::size_t listed = 0;
  wire::id after;
  for (bool more = true; more;) {
    const auto frame = wire::encode({1, g.described("stop", after)});
    CHECK(frame.size() <= wire::max_control_bytes);
    const auto page = wire::decode(std::as_bytes(std::span(frame)));
    REQUIRE(page);
    const auto& state = std::get<wire::topic_state>(page->content);
    REQUIRE_FALSE(state.subscriptions.empty());
    CHECK(state.shared);
    CHECK(state.publications.size() > 5);
    listed += state.subscriptions.size();
    after = state.subscriptions.back().subscription;
    more = state.more;
  }
  CHECK(listed == 300);
  std::size_t steps = 1'000'000;
  const auto changes = g.map.changes_since({.topics = {"**"}, .position = {}}, steps);
  CHECK(changes.topics.size() == 1);
  CHECK_FALSE(changes.more);
}

TEST_CASE("shared topics in the map: an older participant is refused with the reason") {
  fixture f;
  f.join("a", 1);
  f.join("old", 2);
  f.registered("a", shared("stop", 10));
  const auto refused =
      f.map.request_topic(at("old"), {.topic = "stop", .subscription = identity(20), .knows_shared = false});
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == wire::error_code::version);
  CHECK(refused.error().text.find("is shared") != std::string::npos);
  CHECK(f.map.subscription_count() == 0);
}

TEST_CASE("shared topics in the map: counters, types and mismatches are per publication") {
  fixture f;
  f.join("reader", 1);
  f.join("a", 2);
  f.join("b", 3);
  auto first = typed("stop", 20, "one");
  first.shared = true;
  auto second = typed("stop", 21, "two");
  second.shared = true;
  f.registered("a", first);
  f.registered("b", second);
  REQUIRE(f.map.request_topic(at("reader"), {"stop", identity(10), 0, typed("x", 1, "one").type}));
  REQUIRE(f.map.heartbeat(at("b"), {.publications = {{.publication = identity(21), .sent = 7}}, .subscriptions = {}},
                          f.now));
  const auto state = f.described("stop");
  REQUIRE(state.publications.size() == 2);
  CHECK_FALSE(state.publications[0].counters);
  REQUIRE(state.publications[1].counters);
  CHECK(state.publications[1].counters->sent == 7);
  CHECK(state.publications[0].type != state.publications[1].type);
  const auto told = f.map.report_mismatch(at("reader"), {"stop", identity(10), "differs", {}, 0, identity(21)}, f.now);
  REQUIRE(told);
  REQUIRE(*told);
  CHECK((*told)->to == at("b"));
}

TEST_CASE("shared topics in the map: any order of comings and goings leaves nothing behind") {
  fixture f;
  std::minstd_rand random(1);
  for (std::uint64_t n = 0; n < 8; ++n) f.join("p" + std::to_string(n), n + 1);
  for (int step = 0; step < 20'000; ++step) {
    const std::uint64_t n = random() % 8;
    const std::string who = "p" + std::to_string(n);
    const std::string topic = "t" + std::to_string(random() % 2);
    const std::uint64_t publication = topic == "t0" ? 10 + random() % 8 : 20 + random() % 8;
    auto request = registration(topic, publication);
    request.shared = random() % 4 != 0;
    switch (random() % 5) {
      case 0:
      case 1: (void)f.map.register_topic(at(who), request, f.now); break;
      case 2: (void)f.map.unregister_topic(at(who), {topic, identity(publication)}, f.now); break;
      case 3: f.map.retire(identity(n + 1)), (void)f.hello(who, process(n + 1)); break;
      case 4: f.map.clean_up(f.now, random() % 3); break;
    }
    for (const char* const each : {"t0", "t1"}) {
      const auto state = f.map.describe({each, {}}, f.now);
      if (!state) continue;
      REQUIRE((state->shared || state->publications.empty()));
      REQUIRE((!state->shared || !state->publication));
    }
  }
  for (std::uint64_t n = 0; n < 8; ++n) f.map.goodbye(at("p" + std::to_string(n)), f.now);
  f.clean_up();
  CHECK(f.map.topic_count() == 0);
  CHECK(f.map.description_bytes() == 0);
}
