// The rules of the topic map, with routing ids and times made up.
#include "support/topic_map_fixture.h"

using namespace orc;
using namespace std::chrono_literals;
using namespace orc::test;
using fixture = topic_map_fixture;

TEST_CASE("topic map: who did not say Hello is unknown") {
  fixture f;
  const auto unknown = wire::error_code::unknown_participant;
  CHECK(f.register_error("a", registration("t", 1)).code == unknown);
  CHECK(f.request_error("a", "t", 1).code == unknown);
  CHECK(f.map.unregister_topic(at("a"), {"t", identity(1)}, f.now).error().code == unknown);
  CHECK(f.map.release_topic(at("a"), {"t", identity(1)}).error().code == unknown);
  CHECK(f.map.heartbeat(at("a"), {}, f.now).error().code == unknown);
  CHECK_FALSE(f.map.renew(at("a"), f.now));
  f.map.goodbye(at("a"), f.now);
  CHECK(f.map.topic_count() == 0);
}

TEST_CASE("topic map: a topic may be requested before it is registered") {
  fixture f;
  f.join("reader", 1);
  f.join("writer", 2);
  const auto before = f.requested("reader", "t", 10);
  CHECK_FALSE(before.publication);
  CHECK(before.subscription_count == 1);
  const auto state = f.registered("writer", registration("t", 20));
  REQUIRE(state.publication);
  CHECK(state.publication->publication == identity(20));
  CHECK(state.publication->participant_name == "program2");
  CHECK(state.publication->pid == 1'002);
  const auto events = f.taken();
  REQUIRE(events.size() == 1);
  CHECK(events[0].to == std::vector{at("reader")});
  CHECK(events[0].state == state);
  CHECK(f.requested("reader", "t", 10) == state);
}

TEST_CASE("topic map: retries change nothing and tell nobody") {
  fixture f;
  f.join("reader", 1);
  f.join("writer", 2);
  f.requested("reader", "t", 10);
  const auto state = f.registered("writer", registration("t", 20));
  f.taken();
  CHECK(f.registered("writer", registration("t", 20)) == state);
  CHECK(f.requested("reader", "t", 10) == state);
  CHECK(f.taken().empty());
  CHECK(f.map.unregister_topic(at("writer"), {"t", identity(20)}, f.now));
  CHECK(f.taken().size() == 1);
  CHECK(f.map.unregister_topic(at("writer"), {"t", identity(20)}, f.now));
  CHECK(f.taken().empty());
  CHECK(f.map.release_topic(at("reader"), {"t", identity(10)}));
  CHECK(f.map.release_topic(at("reader"), {"t", identity(10)}));
  CHECK(f.map.topic_count() == 0);
  CHECK(f.map.subscription_count() == 0);
}

TEST_CASE("topic map: new endpoints or a new publication of the holder move the topic") {
  fixture f;
  f.join("reader", 1);
  f.join("writer", 2);
  f.requested("reader", "t", 10);
  f.registered("writer", registration("t", 20));
  f.taken();
  f.registered("writer", registration("t", 20, "ipc:///b"));
  auto events = f.taken();
  REQUIRE(events.size() == 1);
  CHECK(events[0].state.publication->endpoints[0].address == "ipc:///b");
  f.registered("writer", registration("t", 21));
  events = f.taken();
  REQUIRE(events.size() == 1);
  CHECK(events[0].state.publication->publication == identity(21));
  // the publication that was replaced is no longer there to be unregistered
  CHECK(f.map.unregister_topic(at("writer"), {"t", identity(20)}, f.now));
  CHECK(f.taken().empty());
}

TEST_CASE("topic map: the topic of another participant is held, by name, program and pid, and by another host") {
  fixture f;
  f.join("one", 1);
  f.join("two", 2);
  f.registered("one", registration("robot/state", 20));
  auto result = f.map.register_topic(at("two"), registration("robot/state", 21), f.now);
  REQUIRE(std::holds_alternative<topic_map::held>(result));
  const auto& held = std::get<topic_map::held>(result);
  CHECK(held.participant == identity(1));
  CHECK(held.refusal == "topic \"robot/state\" is published by program1 (pid 1001)");
  auto three = process(3);
  three.host = "other-host";
  REQUIRE(f.hello("three", three));
  result = f.map.register_topic(at("three"), registration("robot/state", 22), f.now);
  REQUIRE(std::holds_alternative<topic_map::held>(result));
  CHECK(std::get<topic_map::held>(result).refusal ==
        "topic \"robot/state\" is published by program1 (pid 1001 on host some-host)");
  f.map.remove(identity(1), f.now);
  f.registered("two", registration("robot/state", 21));
}

TEST_CASE("topic map: an id is that of one topic") {
  fixture f;
  f.join("one", 1);
  f.join("two", 2);
  f.registered("one", registration("t", 20));
  CHECK(f.register_error("one", registration("u", 20)).code == wire::error_code::bad_request);
  f.requested("one", "t", 10);
  CHECK(f.request_error("one", "u", 10).code == wire::error_code::bad_request);
  f.requested("two", "t", 10);  // subscription ids are their participant's own
  CHECK(f.described("t").subscription_count == 2);
}

TEST_CASE("topic map: a participant with several subscriptions is told once") {
  fixture f;
  f.join("reader", 1);
  f.join("other", 3);
  f.join("writer", 2);
  f.requested("reader", "t", 10);
  f.requested("reader", "t", 11);
  f.requested("other", "t", 12);
  f.registered("writer", registration("t", 20));
  const auto events = f.taken();
  REQUIRE(events.size() == 1);
  CHECK(events[0].to == std::vector{at("reader"), at("other")});
}

TEST_CASE("topic map: goodbye, removal and the end of a lease free topics and tell the readers") {
  const auto leave = GENERATE(0, 1, 2);
  fixture f;
  f.join("reader", 1);
  f.join("writer", 2);
  f.requested("reader", "t", 10);
  f.requested("writer", "t", 11);
  f.registered("writer", registration("t", 20));
  f.registered("writer", registration("unread", 21));
  f.taken();
  if (leave == 0) f.map.goodbye(at("writer"), f.now);
  if (leave == 1) f.map.remove(identity(2), f.now);
  if (leave == 2) {
    f.now += 2s;
    CHECK(f.map.renew(at("reader"), f.now));
    f.now += 1s;
    CHECK(f.map.expire(f.now, 100) == 1);
  }
  const auto events = f.taken();
  REQUIRE(events.size() == 1);
  CHECK(events[0].to == std::vector{at("reader")});
  CHECK_FALSE(events[0].state.publication);
  CHECK(events[0].state.subscription_count == 1);
  CHECK(f.map.topic_count() == 1);
  CHECK(f.map.participant_count() == 1);
  CHECK_FALSE(f.map.renew(at("writer"), f.now));
}

TEST_CASE("topic map: leases run out exactly when nobody renews them") {
  fixture f;
  f.join("a", 1);
  for (int i = 0; i < 10; ++i) {
    f.now += 2999ms;
    CHECK(f.map.expire(f.now, 100) == 0);
    CHECK(f.map.heartbeat(at("a"), {}, f.now));
  }
  f.now += 1h;
  f.map.renew_all(f.now);
  CHECK(f.map.expire(f.now, 100) == 0);
  CHECK(f.map.expire(f.now + 3s, 100) == 1);
}

TEST_CASE("topic map: a participant that comes back on a new connection keeps its topics") {
  fixture f;
  f.join("old", 1);
  f.join("writer", 2);
  f.requested("old", "t", 10);
  f.join("new", 1);
  CHECK(f.map.participant_count() == 2);
  f.registered("writer", registration("t", 20));
  const auto events = f.taken();
  REQUIRE(events.size() == 1);
  CHECK(events[0].to == std::vector{at("new")});
  CHECK_FALSE(f.map.renew(at("old"), f.now));
}

TEST_CASE("topic map: a connection that introduces another participant lets the first one go") {
  fixture f;
  f.join("a", 1);
  f.registered("a", registration("t", 20));
  f.join("a", 2);
  CHECK(f.map.participant_count() == 1);
  CHECK(f.map.topic_count() == 0);
  CHECK(f.map.participant_at(at("a")) == identity(2));
}

TEST_CASE("topic map: counters of heartbeats are shown with their age") {
  fixture f;
  f.join("writer", 1);
  f.join("reader", 2);
  f.registered("writer", registration("t", 20));
  f.requested("reader", "t", 10);
  CHECK_FALSE(f.described("t").publication->counters);
  wire::publication_counters sent;
  sent.publication = identity(20);
  sent.sent = 5;
  wire::subscription_counters received;
  received.subscription = identity(10);
  received.received = 4;
  wire::publication_counters strangers = sent;
  strangers.publication = identity(99);
  CHECK(f.map.heartbeat(at("writer"), {{sent, strangers}, {received}}, f.now));  // `received` is not the writer's
  CHECK(f.map.heartbeat(at("reader"), {{}, {received}}, f.now));
  f.now += 250ms;
  const auto state = f.described("t");
  CHECK(state.publication->counters == sent);
  CHECK(state.publication->received_ago_ms == 250);
  REQUIRE(state.subscriptions.size() == 1);
  received.subscription = state.subscriptions[0].subscription;  // which others do not see as it is
  CHECK(received.subscription != identity(10));
  CHECK(state.subscriptions[0].counters == received);
  CHECK(state.subscriptions[0].participant_name == "program2");
  f.registered("writer", registration("t", 20, "ipc:///b"));
  CHECK(f.described("t").publication->counters == sent);
  f.registered("writer", registration("t", 21));
  CHECK_FALSE(f.described("t").publication->counters);
}

TEST_CASE("topic map: the list comes in pages, in order") {
  fixture f;
  f.join("a", 1);
  for (std::uint64_t i = 0; i < 25; ++i) f.requested("a", "t" + std::to_string(100 + i), 1'000 + i);
  std::string after;
  std::size_t seen = 0;
  for (bool more = true; more;) {
    const auto page = f.map.list(after, 10, f.now);
    CHECK(page.participants == 1);
    for (const auto& topic : page.topics) {
      CHECK(topic.topic > after);
      after = topic.topic;
      ++seen;
    }
    more = page.more;
  }
  CHECK(seen == 25);
  CHECK(f.map.list("zzz", 0, f.now).topics.empty());
}

TEST_CASE("topic map: what nobody knows cannot be described") {
  fixture f;
  CHECK(f.map.describe({"t"}, f.now).error().code == wire::error_code::unknown_topic);
}
