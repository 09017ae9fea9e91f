// The broker's service with watchers that wait for changes: without sockets, with times made up.
#include "broker/service/watchers.h"

#include <map>
#include <string>

#include "broker/service/broker_service.h"
#include "support/catch.h"

using namespace orc;
using namespace std::chrono_literals;

namespace {

watchers::watcher question(watchers::routing from, const std::string& client, watchers::time until = {}) {
  return {from, 1, client, {}, until};
}

struct fixture {
  fixture()
      : service(
            options(),
            [this](std::uint64_t to, const std::string& frame) {
              const auto decoded = wire::decode(std::as_bytes(std::span(frame.data(), frame.size())));
              REQUIRE(decoded);
              answers[to].push_back(*decoded);
              return true;
            },
            now) {}
  static broker_service_options options() {
    broker_service_options made;
    made.host = "here";
    made.lease = made.heartbeat = 1h;
    return made;
  }
  void open(std::uint64_t from, std::uint32_t uid = 1'000) {
    service.opened(from, {.way = peer::via::ipc, .uid = uid, .pid = 0, .directory = {}, .address = {}});
  }
  void say(std::uint64_t from, std::uint64_t request, wire::body content) {
    const auto frame = wire::encode({request, std::move(content)});
    service.receive(from, std::as_bytes(std::span(frame.data(), frame.size())), now);
  }
  // Runs turns until none is due.
  void settle() {
    while (service.next_deadline().value_or(now + 1h) <= now) service.turn(now);
  }
  [[nodiscard]] const wire::changes& last(std::uint64_t to) {
    REQUIRE_FALSE(answers[to].empty());
    REQUIRE(std::holds_alternative<wire::changes>(answers[to].back().content));
    return std::get<wire::changes>(answers[to].back().content);
  }
  wire::watch_position up_to_date(std::uint64_t who) {
    say(who, 1, wire::watch{{"**"}, false, {}, 0});
    REQUIRE_FALSE(last(who).more);
    return last(who).position;
  }
  void publish(const std::string& topic, std::uint64_t publication) {
    say(1, 1, wire::register_topic{topic, {2, publication}, {}, {}});
  }

  broker_service::time now{1h};
  std::map<std::uint64_t, std::vector<wire::envelope>> answers;
  broker_service service;
};

}  // namespace

TEST_CASE("watchers: all are looked at once for each revision") {
  watchers all;
  CHECK_FALSE(all.any_behind(5));
  for (watchers::routing n = 1; n <= 3; ++n) REQUIRE(all.add(question(n, "one")));
  for (const change_log::revision newest : {5U, 6U}) {
    std::map<watchers::routing, int> seen;
    while (const auto* const next = all.next_behind(newest)) {
      ++seen[next->from];
      all.pass();
    }
    CHECK(seen == std::map<watchers::routing, int>{{1, 1}, {2, 1}, {3, 1}});
    CHECK_FALSE(all.any_behind(newest));
  }
}

TEST_CASE("watchers: another question of a connection takes the place of the first") {
  watchers all;
  REQUIRE(all.add(question(1, "one")));
  auto again = question(1, "one");
  again.request = 2;
  REQUIRE(all.add(again));
  REQUIRE(all.next_behind(2) != nullptr);
  CHECK(all.next_behind(2)->request == 2);
  all.pass();
  CHECK(all.next_behind(2) == nullptr);
  all.remove(1);
  CHECK_FALSE(all.any_behind(3));
}

TEST_CASE("watchers: one client has half of what the others leave") {
  watchers all;
  watchers::routing next = 0;
  std::size_t greedy = 0;
  while (all.add(question(++next, "greedy"))) ++greedy;
  CHECK(greedy == watchers::most / 2);
  const auto first = next - greedy;
  CHECK(all.add(question(++next, "modest")));
  all.remove(first);
  all.remove(first);
  CHECK(all.add(question(++next, "greedy")));
}

TEST_CASE("watchers: one whose time is over is overdue until it is removed") {
  watchers all;
  const watchers::time start{1h};
  REQUIRE(all.add(question(1, "one", start + 2s)));
  REQUIRE(all.add(question(2, "one", start + 1s)));
  CHECK(all.next_deadline() == start + 1s);
  CHECK(all.next_overdue(start) == nullptr);
  const auto* const late = all.next_overdue(start + 1s);
  REQUIRE(late != nullptr);
  CHECK(late->from == 2);
  all.remove(2);
  CHECK(all.next_overdue(start + 1s) == nullptr);
  CHECK(all.next_deadline() == start + 2s);
}

TEST_CASE("broker watch: a question that does not wait is answered at once, without a Hello") {
  fixture f;
  f.open(7);
  f.say(7, 3, wire::watch{{"**"}, true, {}, 0});
  CHECK(f.last(7).reset);
  CHECK(f.last(7).position.epoch == f.service.epoch());
  CHECK(f.answers[7].back().request == 3);
}

TEST_CASE("broker watch: a waiting watcher is answered when something that it asked for changes") {
  fixture f;
  f.open(1);
  f.open(7);
  f.say(1, 1, wire::hello{{1, 1}, "robot", "there", 1, 1, "", {5, 1}});
  const auto position = f.up_to_date(7);
  f.say(7, 2, wire::watch{{"arm/*"}, false, position, 5'000});
  f.settle();
  CHECK(f.answers[7].size() == 1);
  f.publish("leg/position", 1);
  f.settle();
  CHECK(f.answers[7].size() == 1);
  f.publish("arm/position", 2);
  f.settle();
  REQUIRE(f.answers[7].size() == 2);
  CHECK(f.answers[7].back().request == 2);
  REQUIRE(f.last(7).topics.size() == 1);
  CHECK(f.last(7).topics[0].topic == "arm/position");
  CHECK_FALSE(f.last(7).reset);
  f.publish("arm/velocity", 3);
  f.settle();
  CHECK(f.answers[7].size() == 2);  // it has not asked again
}

TEST_CASE("broker watch: one with slow patterns does not hold up the others that wait") {
  fixture f;
  f.open(1);
  f.open(6);
  f.open(7);
  f.say(1, 1, wire::hello{{1, 1}, "robot", "there", 1, 1, "", {5, 1}});
  const auto position = f.up_to_date(7);
  std::string slow = "s**";
  while (slow.size() < wire::max_topic_name - 3) slow += "x**";
  f.say(6, 1, wire::watch{std::vector<std::string>(wire::max_patterns, slow + "y"), false, position, 5'000});
  f.say(7, 2, wire::watch{{"arm/*"}, false, position, 5'000});
  f.settle();
  for (std::uint64_t n = 0; n < 20; ++n)
    f.publish("s" + std::string(wire::max_topic_name - 3, 'x') + std::to_string(10 + n), 2 + n);
  f.publish("arm/position", 1);
  for (int turn = 0; turn < 3 && f.answers[7].size() == 1; ++turn) f.service.turn(f.now);
  REQUIRE(f.answers[7].size() == 2);
  CHECK(f.last(7).topics[0].topic == "arm/position");
  CHECK(f.answers[6].empty());  // the slow one is still at work
  f.settle();
}

TEST_CASE("broker watch: a watcher without changes is answered in time, and goes on from there") {
  fixture f;
  f.open(7);
  const auto position = f.up_to_date(7);
  f.say(7, 2, wire::watch{{"**"}, false, position, 1'000});
  f.now += 999ms;
  f.settle();
  CHECK(f.answers[7].size() == 1);
  f.now += 1ms;
  f.settle();
  REQUIRE(f.answers[7].size() == 2);
  CHECK(f.last(7).topics.empty());
  CHECK(f.last(7).position == position);
  f.say(7, 3, wire::watch{{"**"}, false, position, 4'000'000'000});
  f.now += watchers::max_wait;
  f.settle();
  CHECK(f.answers[7].size() == 3);
}

TEST_CASE("broker watch: a position of another broker, or an impossible one, begins anew") {
  fixture f;
  f.open(7);
  auto position = f.up_to_date(7);
  ++position.epoch;
  f.say(7, 2, wire::watch{{"**"}, false, position, 1'000});
  CHECK(f.last(7).reset);
  position = f.last(7).position;
  position.until += 1'000;
  f.say(7, 3, wire::watch{{"**"}, false, position, 1'000});
  CHECK(f.answers[7].size() == 3);
  CHECK(f.last(7).reset);
}

TEST_CASE("broker watch: nothing is left of a connection that is gone") {
  fixture f;
  f.open(1);
  f.open(7);
  f.say(1, 1, wire::hello{{1, 1}, "robot", "there", 1, 1, "", {5, 1}});
  const auto position = f.up_to_date(7);
  f.say(7, 2, wire::watch{{"**"}, false, position, 5'000});
  f.service.closed(7, f.now);
  f.publish("t", 1);
  f.settle();
  f.now += 1min;
  f.settle();
  CHECK(f.answers[7].size() == 1);
}

TEST_CASE("broker watch: too many waiting watchers are refused with a limit") {
  fixture f;
  std::uint64_t next = 10;
  const auto wait = [&](std::uint64_t who, std::uint32_t uid) {
    f.open(who, uid);
    const auto position = f.up_to_date(who);
    f.say(who, 2, wire::watch{{"**"}, false, position, 5'000});
    return f.answers[who].size() == 1;  // it waits
  };
  while (wait(++next, 1'000)) REQUIRE(next < 10 + watchers::most);
  const auto* const refusal = std::get_if<wire::error>(&f.answers[next].back().content);
  REQUIRE(refusal != nullptr);
  CHECK(refusal->code == wire::error_code::limit);
  CHECK(wait(++next, 1'001));
}
