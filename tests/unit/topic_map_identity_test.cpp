// Whose session it is: what a Hello must show to get it, and what others see of it.
#include "support/topic_map_fixture.h"

using namespace orc;
using namespace orc::test;
using namespace std::chrono_literals;
using fixture = topic_map_fixture;

namespace {

// Refused, and without a word about the session that has the id.
void refused(const topic_map::done& answer) {
  REQUIRE_FALSE(answer);
  CHECK(answer.error().code == wire::error_code::id_taken);
  for (const char* part : {"program1", "some-host", "1001"}) CHECK_THAT(answer.error().text, !contains(part));
}

}  // namespace

TEST_CASE("topic map: a session moves to another connection with its secret only") {
  fixture f;
  f.join("a", 1);
  f.registered("a", registration("t", 20));
  SECTION("a made-up secret") {
    auto who = process(1);
    who.secret = {7, 8};
    refused(f.hello("b", who));
  }
  SECTION("no secret") {
    auto who = process(1);
    who.secret = {};
    refused(f.hello("b", who));
  }
  SECTION("the secret, but another process: a child after fork()") {
    auto who = process(1);
    who.pid = 1;
    refused(f.hello("b", who));
  }
  SECTION("the secret and the process, but another user") { refused(f.hello("b", process(1), user(1'001))); }
  CHECK(f.map.renew(at("a"), f.now));
  CHECK_FALSE(f.map.renew(at("b"), f.now));
  f.join("c", 1);  // with everything right
  CHECK(f.map.renew(at("c"), f.now));
  CHECK(f.map.topic_count() == 1);
}

TEST_CASE("topic map: a session without a secret stays where it is") {
  fixture f;
  auto who = process(1);
  who.secret = {};
  REQUIRE(f.hello("a", who));
  REQUIRE(f.hello("a", who));  // repeated
  refused(f.hello("b", who));
  f.map.closed(at("a"));
  refused(f.hello("b", who));  // until its lease ends
  f.now += 3s;
  CHECK(f.map.expire(f.now, 100) == 1);
  CHECK(f.hello("b", who));
}

TEST_CASE("topic map: root may move a session, and a session may come from ipc to tcp") {
  fixture f;
  f.join("a", 1, user(1'000));
  f.join("b", 1, user(0));
  f.join("c", 1, host("192.0.2.1"));
  CHECK(f.map.participant_at(at("c")) == identity(1));
}

TEST_CASE("topic map: a closed connection hears nothing, and its participant keeps its topics") {
  fixture f;
  f.join("reader", 1);
  f.join("writer", 2);
  f.requested("reader", "t", 10);
  f.map.closed(at("reader"));
  f.registered("writer", registration("t", 20));
  CHECK(f.taken().empty());
  CHECK(f.map.subscription_count() == 1);
  f.join("reader again", 1);
  f.registered("writer", registration("t", 20, "ipc:///b"));
  const auto events = f.taken();
  REQUIRE(events.size() == 1);
  CHECK(events[0].to == std::vector{at("reader again")});
}

TEST_CASE("topic map: the ids of participants and subscriptions are not shown") {
  fixture f;
  f.join("writer", 1);
  f.join("reader", 2);
  f.registered("writer", registration("t", 20));
  f.requested("reader", "t", 10);
  wire::subscription_counters counters;
  counters.subscription = identity(10);
  REQUIRE(f.map.heartbeat(at("reader"), {{}, {counters}}, f.now));
  for (const auto& state : {f.described("t"), f.map.list("", 0, f.now).topics.at(0)}) {
    REQUIRE(state.publication);
    CHECK(state.publication->publication == identity(20));  // links need it
    CHECK(state.publication->participant != identity(1));
    REQUIRE(state.subscriptions.size() == 1);
    CHECK(state.subscriptions[0].participant != identity(2));
    CHECK(state.subscriptions[0].subscription != identity(10));
    CHECK(state.subscriptions[0].counters->subscription == state.subscriptions[0].subscription);
    CHECK(state.publication->participant == f.map.shown_id_of(identity(1)));
    CHECK(state.subscriptions[0].participant == f.map.shown_id_of(identity(2)));
  }
}

TEST_CASE("topic map: what a publication keeps and how old a subscription takes samples is shown") {
  fixture f;
  f.join("a", 1);
  auto request = registration("t", 20);
  request.keep_last = false;
  f.registered("a", request);
  REQUIRE(f.map.request_topic(at("a"), {"t", identity(10), 200}));
  CHECK_FALSE(f.described("t").publication->keep_last);
  CHECK(f.described("t").subscriptions.at(0).max_age_ms == 200);
  REQUIRE(f.map.request_topic(at("a"), {"t", identity(10), 300}));
  CHECK(f.described("t").subscriptions.at(0).max_age_ms == 300);
}
