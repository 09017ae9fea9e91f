// What one client, one participant and one page may have, and that long work is done in parts.
#include <algorithm>
#include <set>

#include "support/topic_map_fixture.h"

using namespace orc;
using namespace orc::test;
using namespace std::chrono_literals;
using fixture = topic_map_fixture;

namespace {

constexpr topic_map_limits small{.topics = 4,
                                 .participants = 4,
                                 .subscriptions = 4,
                                 .schema_bytes = 1'000,
                                 .topics_each = 16,
                                 .subscriptions_each = 16};

void refused(const topic_map::done& answer, const std::string& what) {
  REQUIRE_FALSE(answer);
  CHECK(answer.error().code == wire::error_code::limit);
  CHECK_THAT(answer.error().text, contains(what));
}

}  // namespace

TEST_CASE("topic map: one client has half of the participants, and others still join") {
  fixture f(small);
  f.join("a", 1);
  f.join("b", 2);
  refused(f.hello("c", process(3)), "user 1000 may have, over all its connections, no more than 2 participants");
  f.join("b2", 2);  // a known one is no new one
  f.join("d", 4, host("192.0.2.1"));
  f.join("e", 5, host("2001:db8::1"));
  refused(f.hello("f", process(6), host("192.0.2.2")), "the broker keeps no more than 4 participants");
  f.map.goodbye(at("a"), f.now);
  f.join("f", 6, host("192.0.2.2"));
}

TEST_CASE("topic map: two greedy clients leave room for a third, and three for a fourth") {
  fixture f({.participants = 64});
  std::uint64_t last = 0;
  const auto crowd = [&](const std::string& name, const peer& by) {
    const std::size_t before = f.map.participant_count();
    do ++last;
    while (f.hello(name + std::to_string(last), process(last), by));
    return f.map.participant_count() - before;
  };
  CHECK(crowd("a", user(1'000)) == 32);
  CHECK(crowd("b", host("127.0.0.1")) == 16);
  CHECK(crowd("c", host("192.0.2.1")) == 8);
  CHECK(crowd("d", host("192.0.2.2")) == 4);
}

TEST_CASE("topic map: the addresses of one IPv6 network are one client") {
  fixture f(small);
  f.join("a", 1, host("2001:db8::1"));
  f.join("b", 2, host("2001:db8::2:3"));
  refused(f.hello("c", process(3), host("2001:db8::3")), "network 2001:db8::/64");
  f.join("d", 4, host("2001:db8:0:1::1"));
}

TEST_CASE("topic map: one client has half of the topics, whether it publishes or requests them") {
  auto limits = small;
  limits.subscriptions = 100;
  fixture f(limits);
  f.join("a", 1);
  f.join("b", 2);
  f.join("other", 3, user(1'001));
  f.registered("a", registration("t", 20));
  f.requested("b", "u", 10);
  refused(f.register_error("b", registration("v", 21)), "user 1000");
  refused(f.request_error("a", "v", 11), "2 topics");
  f.requested("a", "u", 11);  // it is there already
  f.registered("other", registration("v", 22));
  f.join("third", 4, user(1'002));
  refused(f.register_error("other", registration("w", 23)),
          "user 1001 may have, over all its connections, no more than 1");
  f.registered("third", registration("w", 23));
  // who brought a topic and left it does not pay for it any more
  f.requested("other", "t", 12);
  REQUIRE(f.map.unregister_topic(at("a"), {"t", identity(20)}, f.now));
  refused(f.request_error("a", "x", 13), "the broker keeps no more than 4 topics");
  f.map.goodbye(at("other"), f.now);
  f.registered("a", registration("x", 24));
  CHECK(f.map.topic_count() == 3);
}

TEST_CASE("topic map: one client has half of the subscriptions") {
  fixture f(small);
  f.join("a", 1);
  f.join("other", 3, user(1'001));
  f.requested("a", "t", 10);
  f.requested("a", "t", 11);
  refused(f.request_error("a", "t", 12), "user 1000 may have, over all its connections, no more than 2 subscriptions");
  f.requested("other", "t", 12);
  REQUIRE(f.map.release_topic(at("a"), {"t", identity(10)}));
  f.requested("a", "t", 12);
}

TEST_CASE("topic map: a participant has its own limits") {
  fixture f({.topics_each = 2, .subscriptions_each = 2});
  f.join("a", 1);
  f.registered("a", registration("t", 20));
  f.registered("a", registration("u", 21));
  refused(f.register_error("a", registration("v", 22)), "a participant may have no more than 2 topics");
  f.requested("a", "t", 10);
  f.requested("a", "t", 11);
  refused(f.request_error("a", "t", 12), "a participant may have no more than 2 subscriptions");
}

TEST_CASE("topic map: a participant with much is removed in parts, but its topics are free at once") {
  fixture f;
  f.join("a", 1);
  f.join("reader", 2);
  for (std::uint64_t i = 0; i < 1'000; ++i) {
    f.registered("a", registration("t" + std::to_string(i), 10'000 + i));
    f.requested("a", "t" + std::to_string(i), 20'000 + i);
  }
  f.requested("reader", "t999", 10);
  f.taken();
  f.map.goodbye(at("a"), f.now);
  CHECK_FALSE(f.map.clean());
  CHECK(f.map.participant_count() == 1);
  CHECK_FALSE(f.described("t999").publication);
  f.join("b", 1);  // even under the same id
  f.registered("b", registration("t500", 10'500));
  f.clean_up();
  CHECK(f.map.topic_count() == 2);
  CHECK(f.map.subscription_count() == 1);
  const auto events = f.taken();
  REQUIRE(events.size() == 1);
  CHECK_FALSE(events[0].state.publication);
  f.map.goodbye(at("b"), f.now);
  CHECK(f.map.topic_count() == 1);
}

TEST_CASE("topic map: a participant of which something is unread keeps its lease") {
  fixture f;
  f.join("flooded", 1);
  f.join("silent", 2);
  const auto unread = [&](topic_map::routing connection) { return connection == at("flooded"); };
  f.now += 3s;
  CHECK(f.map.expire(f.now, 4, unread) == 1);
  CHECK(f.map.participant_count() == 1);
  CHECK(f.map.participant_at(at("flooded")));
  f.now += 3s;
  CHECK(f.map.expire(f.now, 4) == 1);
}

TEST_CASE("topic map: leases of many end in parts") {
  fixture f;
  for (std::uint64_t i = 1; i <= 10; ++i) f.join(std::to_string(i), i);
  f.now += 3s;
  CHECK(f.map.expire(f.now, 4) == 4);
  CHECK(f.map.expire(f.now, 4) == 4);
  CHECK(f.map.expire(f.now, 4) == 2);
  CHECK(f.map.participant_count() == 0);
}

TEST_CASE("topic map: an event for many is made in parts, and the newest state reaches all") {
  fixture f;
  f.join("writer", 100);
  std::set<topic_map::routing> readers;
  for (std::uint64_t i = 1; i <= 10; ++i) {
    f.join(std::to_string(i), i);
    readers.insert(at(std::to_string(i)));
    for (std::uint64_t n = 0; n < 3; ++n) f.requested(std::to_string(i), "t", 10 * i + n);
  }
  f.registered("writer", registration("t", 20));
  std::size_t budget = 4;
  const auto first = f.map.next_event(f.now, budget);
  REQUIRE(first);
  CHECK(first->to.size() == 4);
  CHECK(budget == 0);
  f.registered("writer", registration("t", 20, "ipc:///b"));  // while the first event is on its way
  std::map<topic_map::routing, std::string> newest;
  std::size_t frames = 0;
  for (const auto& event : f.taken(4)) {
    for (const auto to : event.to) newest[to] = event.state.publication->endpoints.at(0).address;
    frames += event.to.size();
  }
  CHECK(newest.size() == readers.size());
  for (const auto& [to, address] : newest) CHECK(address == "ipc:///b");
  CHECK(frames == 6 + 10);
}

TEST_CASE("topic map: a topic that moves all the time makes ten events, then ten a second, the last one the newest") {
  fixture f;
  f.join("reader", 1);
  f.join("writer", 2);
  f.requested("reader", "t", 10);
  std::size_t events = 0;
  std::string last;
  const auto take = [&] {
    for (const auto& event : f.taken()) {
      ++events;
      last = event.state.publication->endpoints.at(0).address;
    }
  };
  const auto move = [&](int n) {
    f.registered("writer", registration("t", 20, "ipc:///" + std::to_string(n)));
    take();
  };
  for (int i = 0; i < 4'000; ++i) move(i);
  CHECK(events == topic_events::moves_at_once);
  CHECK(last == "ipc:///9");
  REQUIRE(f.map.next_event_time());
  f.now = *f.map.next_event_time();
  take();
  CHECK(events == topic_events::moves_at_once + 1);
  CHECK(last == "ipc:///3999");
  const auto start = f.now;
  for (int i = 4'000; f.now < start + 1s; ++i, f.now += 1ms) move(i);
  CHECK(events <= topic_events::moves_at_once + 1 + topic_events::moves_per_second + 1);
  f.now += 10s;
  take();
  for (int i = 5'000; i < 5'005; ++i) move(i);  // after a pause they are pushed at once again
  CHECK(last == "ipc:///5004");
}

TEST_CASE("topic map: a topic with many subscriptions is described in pages, each subscription once") {
  fixture f;
  f.join("a", 1);
  f.join("b", 2);
  for (std::uint64_t i = 0; i < 700; ++i) f.requested(i % 2 == 0 ? "a" : "b", "t", 1'000 + i);
  wire::id after;
  std::vector<wire::id> seen;
  for (bool more = true; more;) {
    const auto page = f.described("t", after);
    CHECK(page.subscription_count == 700);
    REQUIRE_FALSE(page.subscriptions.empty());
    for (const auto& each : page.subscriptions) seen.push_back(each.subscription);
    after = seen.back();
    more = page.more;
  }
  CHECK(seen.size() == 700);
  CHECK(std::is_sorted(seen.begin(), seen.end()));
  CHECK(std::set(seen.begin(), seen.end()).size() == 700);
  CHECK(f.described("t", seen.back()).subscriptions.empty());
}

TEST_CASE("topic map: a list shows a few subscriptions of each topic and stops when a frame is full") {
  fixture f;
  f.join("a", 1);
  for (std::uint64_t i = 0; i < 20; ++i) f.requested("a", "t", 1'000 + i);
  const auto page = f.map.list("", 0, f.now);
  REQUIRE(page.topics.size() == 1);
  CHECK(page.topics[0].subscriptions.size() == topic_map::listed_subscriptions);
  CHECK(page.topics[0].more);
  CHECK(page.topics[0].subscription_count == 20);
  for (std::uint64_t i = 0; i < 500; ++i) {
    for (std::uint64_t n = 0; n < 16; ++n)
      f.requested("a", std::string(200, 'u') + std::to_string(i), 10'000 + 16 * i + n);
  }
  const auto full = f.map.list("", 0, f.now);
  CHECK(full.topics.size() < 60);
  CHECK(full.more);
}
