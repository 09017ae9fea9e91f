// The rules of the topic map, with routing ids and times made up.
#include "broker/topic_map.h"

#include "support/catch.h"

using namespace orc;
using namespace std::chrono_literals;
using Catch::Matchers::Contains;

namespace {

wire::id identity(std::uint64_t n) { return {1, n}; }

wire::hello process(std::uint64_t n) {
  return {identity(n), "program" + std::to_string(n), "some-host", static_cast<std::uint32_t>(1'000 + n), n, ""};
}

wire::register_topic registration(const std::string& topic, std::uint64_t publication,
                                  const std::string& address = "ipc:///a") {
  return {topic, identity(publication), {{wire::transport::ipc, address}}, {}};
}

wire::register_topic typed(const std::string& topic, std::uint64_t publication, std::uint64_t hash,
                           const std::string& schema) {
  auto request = registration(topic, publication);
  request.type = {"T", "flatbuffers", hash, schema};
  return request;
}

struct fixture {
  explicit fixture(topic_map_limits limits = {}) : map(3s, limits) {}

  void join(const std::string& from, std::uint64_t participant) {
    REQUIRE_FALSE(map.hello(from, process(participant), now, events));
  }
  wire::topic_state registered(const std::string& from, const wire::register_topic& what) {
    auto result = map.register_topic(from, what, events);
    if (auto* wrong = std::get_if<wire::error>(&result)) FAIL(wrong->text);
    REQUIRE(std::holds_alternative<wire::topic_state>(result));
    return std::get<wire::topic_state>(result);
  }
  wire::error register_error(const std::string& from, const wire::register_topic& what) {
    auto result = map.register_topic(from, what, events);
    REQUIRE(std::holds_alternative<wire::error>(result));
    return std::get<wire::error>(result);
  }
  wire::topic_state requested(const std::string& from, const std::string& topic, std::uint64_t subscription) {
    auto result = map.request_topic(from, {topic, identity(subscription)});
    REQUIRE(std::holds_alternative<wire::topic_state>(result));
    return std::get<wire::topic_state>(result);
  }
  wire::topic_state described(const std::string& topic) {
    auto result = map.describe(topic, now);
    REQUIRE(std::holds_alternative<wire::topic_state>(result));
    return std::get<wire::topic_state>(result);
  }
  topic_map::events taken() { return std::exchange(events, {}); }

  topic_map map;
  topic_map::time now{1h};
  topic_map::events events;
};

}  // namespace

TEST_CASE("topic map: who did not say Hello is unknown") {
  fixture f;
  const auto unknown = wire::error_code::unknown_participant;
  CHECK(f.register_error("a", registration("t", 1)).code == unknown);
  CHECK(std::get<wire::error>(f.map.request_topic("a", {"t", identity(1)})).code == unknown);
  CHECK(f.map.unregister_topic("a", {"t", identity(1)}, f.events)->code == unknown);
  CHECK(f.map.release_topic("a", {"t", identity(1)})->code == unknown);
  CHECK(f.map.heartbeat("a", {}, f.now)->code == unknown);
  CHECK_FALSE(f.map.renew("a", f.now));
  f.map.goodbye("a", f.events);
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
  CHECK(events[0].to == std::vector<std::string>{"reader"});
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
  CHECK_FALSE(f.map.unregister_topic("writer", {"t", identity(20)}, f.events));
  CHECK(f.taken().size() == 1);
  CHECK_FALSE(f.map.unregister_topic("writer", {"t", identity(20)}, f.events));
  CHECK(f.taken().empty());
  CHECK_FALSE(f.map.release_topic("reader", {"t", identity(10)}));
  CHECK_FALSE(f.map.release_topic("reader", {"t", identity(10)}));
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
  CHECK_FALSE(f.map.unregister_topic("writer", {"t", identity(20)}, f.events));
  CHECK(f.taken().empty());
}

TEST_CASE("topic map: the topic of another participant is held, by name, program, pid and host") {
  fixture f;
  f.join("one", 1);
  f.join("two", 2);
  f.registered("one", registration("robot/state", 20));
  auto result = f.map.register_topic("two", registration("robot/state", 21), f.events);
  REQUIRE(std::holds_alternative<topic_map::held>(result));
  const auto& held = std::get<topic_map::held>(result);
  CHECK(held.participant == identity(1));
  for (const char* part : {"robot/state", "program1", "1001", "some-host"}) CHECK_THAT(held.refusal, Contains(part));
  f.map.remove(held.participant, f.events);
  f.registered("two", registration("robot/state", 21));
}

TEST_CASE("topic map: ids are not shared between topics or participants") {
  fixture f;
  f.join("one", 1);
  f.join("two", 2);
  f.registered("one", registration("t", 20));
  CHECK(f.register_error("one", registration("u", 20)).code == wire::error_code::bad_request);
  f.requested("one", "t", 10);
  CHECK(std::get<wire::error>(f.map.request_topic("one", {"u", identity(10)})).code == wire::error_code::bad_request);
  CHECK(std::get<wire::error>(f.map.request_topic("two", {"t", identity(10)})).code == wire::error_code::bad_request);
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
  CHECK(events[0].to == std::vector<std::string>{"other", "reader"});
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
  if (leave == 0) f.map.goodbye("writer", f.events);
  if (leave == 1) f.map.remove(identity(2), f.events);
  if (leave == 2) {
    f.now += 2s;
    CHECK(f.map.renew("reader", f.now));
    f.now += 1s;
    CHECK(f.map.expire(f.now, f.events) == 1);
  }
  const auto events = f.taken();
  REQUIRE(events.size() == 1);
  CHECK(events[0].to == std::vector<std::string>{"reader"});
  CHECK_FALSE(events[0].state.publication);
  CHECK(events[0].state.subscription_count == 1);
  CHECK(f.map.topic_count() == 1);
  CHECK(f.map.participant_count() == 1);
  CHECK_FALSE(f.map.renew("writer", f.now));
}

TEST_CASE("topic map: leases run out exactly when nobody renews them") {
  fixture f;
  f.join("a", 1);
  for (int i = 0; i < 10; ++i) {
    f.now += 2999ms;
    CHECK(f.map.expire(f.now, f.events) == 0);
    CHECK_FALSE(f.map.heartbeat("a", {}, f.now));
  }
  f.now += 1h;
  f.map.renew_all(f.now);
  CHECK(f.map.expire(f.now, f.events) == 0);
  CHECK(f.map.expire(f.now + 3s, f.events) == 1);
}

TEST_CASE("topic map: a participant that comes back on a new connection keeps its topics") {
  fixture f;
  f.join("old", 1);
  f.join("writer", 2);
  f.requested("old", "t", 10);
  f.join("new", 1);
  CHECK(f.map.participant_count() == 2);
  f.registered("writer", registration("t", 20));
  REQUIRE(f.events.size() == 1);
  CHECK(f.events[0].to == std::vector<std::string>{"new"});
  CHECK_FALSE(f.map.renew("old", f.now));
}

TEST_CASE("topic map: another process cannot take a participant id over") {
  fixture f;
  f.join("a", 1);
  auto other = process(1);
  other.pid = 1;
  const auto wrong = f.map.hello("b", other, f.now, f.events);
  REQUIRE(wrong);
  CHECK(wrong->code == wire::error_code::bad_request);
  CHECK(f.map.renew("a", f.now));
}

TEST_CASE("topic map: a connection that introduces another participant lets the first one go") {
  fixture f;
  f.join("a", 1);
  f.registered("a", registration("t", 20));
  f.join("a", 2);
  CHECK(f.map.participant_count() == 1);
  CHECK(f.map.topic_count() == 0);
  CHECK(f.map.participant_at("a") == identity(2));
}

TEST_CASE("topic map: a schema is kept once per hash and given by describe only") {
  fixture f;
  f.join("a", 1);
  CHECK(f.registered("a", typed("t", 20, 7, "schema")).publication->type->schema.empty());
  f.registered("a", typed("u", 21, 7, "schema"));
  f.registered("a", typed("v", 22, 7, ""));  // the hash is enough
  CHECK(f.map.schema_bytes() == 6);
  for (const char* topic : {"t", "u", "v"}) CHECK(f.described(topic).publication->type->schema == "schema");
  CHECK(f.map.list("", 0, f.now).topics[0].publication->type->schema.empty());
  const auto wrong = f.register_error("a", typed("w", 23, 7, "another"));
  CHECK(wrong.code == wire::error_code::bad_request);
  CHECK_THAT(wrong.text, Contains("schema"));
  CHECK(f.map.topic_count() == 3);
  f.registered("a", typed("t", 20, 7, "schema"));
  f.map.goodbye("a", f.events);
  CHECK(f.map.schema_bytes() == 0);
}

TEST_CASE("topic map: descriptions without a hash are kept as they are") {
  fixture f;
  f.join("a", 1);
  f.registered("a", typed("t", 20, 0, "one"));
  f.registered("a", typed("u", 21, 0, "two"));
  CHECK(f.described("t").publication->type->schema == "one");
  CHECK(f.described("u").publication->type->schema == "two");
  f.registered("a", registration("t", 20));
  CHECK(f.map.schema_bytes() == 3);
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
  CHECK_FALSE(f.map.heartbeat("writer", {{sent, strangers}, {received}}, f.now));  // `received` is not the writer's
  CHECK_FALSE(f.map.heartbeat("reader", {{}, {received}}, f.now));
  f.now += 250ms;
  const auto state = f.described("t");
  CHECK(state.publication->counters == sent);
  CHECK(state.publication->received_ago_ms == 250);
  REQUIRE(state.subscriptions.size() == 1);
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
  CHECK(std::get<wire::error>(f.map.describe("t", f.now)).code == wire::error_code::unknown_topic);
}

TEST_CASE("topic map: every table has a limit") {
  fixture f({.topics = 2, .participants = 2, .subscriptions = 2, .schema_bytes = 10});
  f.join("a", 1);
  f.join("b", 2);
  CHECK(f.map.hello("c", process(3), f.now, f.events)->code == wire::error_code::limit);
  f.join("b2", 2);  // a known one is no new one
  CHECK(f.register_error("a", typed("t", 20, 1, std::string(11, 's'))).code == wire::error_code::limit);
  CHECK(f.map.topic_count() == 0);
  f.registered("a", registration("t", 20));
  f.requested("a", "u", 10);
  CHECK(f.register_error("a", registration("v", 21)).code == wire::error_code::limit);
  CHECK(std::get<wire::error>(f.map.request_topic("a", {"v", identity(11)})).code == wire::error_code::limit);
  f.requested("a", "t", 11);
  CHECK(std::get<wire::error>(f.map.request_topic("a", {"u", identity(12)})).code == wire::error_code::limit);
}
