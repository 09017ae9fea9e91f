// How long a call of the broker's service takes at worst when its tables are full. Not run with the others, for it
// judges nothing: orc_unit_tests "broker cost*" prints it.
#include <time.h>

#include <algorithm>
#include <cstdio>
#include <functional>

#include "broker/service/broker_service.h"
#include "broker/service/watchers.h"
#include "support/catch.h"

using namespace orc;
using namespace std::chrono_literals;

namespace {

// Of this thread: what others do on this machine does not count.
double cpu_ms() {
  timespec used{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return 1e3 * static_cast<double>(used.tv_sec) + 1e-6 * static_cast<double>(used.tv_nsec);
}

struct full_broker {
  static constexpr std::uint64_t participants = 4'096;
  static constexpr std::uint64_t topics = 65'536;
  static constexpr std::uint64_t subscriptions = 262'144;

  full_broker()
      : service(
            options(),
            [this](std::uint64_t, const std::string& frame) {
              sent += frame.size();
              ++frames;
              last = frame;
              return true;
            },
            now) {
    for (std::uint64_t n = 1; n <= participants; ++n) {
      service.opened(n, {.way = peer::via::ipc,
                         .uid = static_cast<std::uint32_t>(n % 2),
                         .pid = 0,
                         .directory = "/run/orc",
                         .address = {}});
      ask(n, wire::hello{{1, n}, "program", "here", 1, 1, "", {2, n}});
    }
    // Two have all that one may have; the others share the rest. All request one topic.
    std::uint64_t subscription = 0;
    const auto request = [&](std::uint64_t who, const std::string& topic) {
      ask(who, wire::request_topic{topic, {3, ++subscription}});
    };
    for (std::uint64_t n = 1; n <= participants; ++n) request(n, "t/0");
    for (std::uint64_t i = 0; i < topics / 4; ++i) ask(1, registration(i, 1));
    for (std::uint64_t i = topics / 4; i < topics; ++i) ask(2 + i % (participants - 2), registration(i, 1));
    for (std::uint64_t i = 0; i < 65'000; ++i) request(2, "t/1");
    for (std::uint64_t i = 0; i < 65'000; ++i) request(3, "t/" + std::to_string(i % topics));
    for (std::uint64_t i = 0; subscription < subscriptions; ++i)
      request(4 + i % (participants - 4), "t/" + std::to_string(i % 4'096));
    settle();
  }

  static broker_service_options options() {
    broker_service_options made;
    made.host = "here";
    made.lease = made.heartbeat = 1h;
    return made;
  }
  static wire::register_topic registration(std::uint64_t topic, int port) {
    return {"t/" + std::to_string(topic),
            {4, topic + 1},
            {{wire::transport::tcp, "tcp://127.0.0.1:" + std::to_string(port)}},
            {}};
  }
  void ask(std::uint64_t from, wire::body what) {
    const auto frame = wire::encode({1, std::move(what)});
    service.receive(from, std::as_bytes(std::span(frame.data(), frame.size())), now);
  }
  void settle() {
    while (service.next_deadline().value_or(now + 1h) <= now) service.turn(now);
  }
  void measure(const char* what, int times, const std::function<void(int)>& call) {
    double worst = 0;
    double sum = 0;
    for (int i = 0; i < times; ++i) {
      const double start = cpu_ms();
      call(i);
      const double took = cpu_ms() - start;
      worst = std::max(worst, took);
      sum += took;
    }
    std::printf("%-58s worst %8.3f ms, mean %8.3f ms of %d\n", what, worst, sum / times, times);
  }
  void measure_turns(const char* what) {
    double worst = 0;
    int turns = 0;
    for (; service.next_deadline().value_or(now + 1h) <= now; ++turns) {
      const double start = cpu_ms();
      service.turn(now);
      worst = std::max(worst, cpu_ms() - start);
    }
    std::printf("  then %-51s worst %8.3f ms, %d turns\n", what, worst, turns);
  }

  broker_service::time now{1'000h};
  std::size_t sent = 0;
  std::size_t frames = 0;
  std::string last;
  broker_service service;
};

}  // namespace

TEST_CASE("broker cost: full tables", "[.cost]") {
  full_broker f;
  std::printf("%zu participants, %zu topics, %zu subscriptions\n", f.service.map().participant_count(),
              f.service.map().topic_count(), f.service.map().subscription_count());
  f.measure("DescribeTopic of 65,000 subscriptions, first page", 20,
            [&](int) { f.ask(9, wire::describe_topic{"t/1"}); });
  f.measure("ListTopics", 20, [&](int i) { f.ask(9, wire::list_topics{"t/" + std::to_string(i * 1'000), 0}); });
  std::string pattern = "t/";
  while (pattern.size() < wire::max_topic_name - 3) pattern += "**1";
  const std::vector<std::string> slow(wire::max_patterns, pattern);
  f.measure("Watch of everything, from the beginning", 20, [&](int) { f.ask(9, wire::watch{{"**"}, true, {}, 0}); });
  f.measure("Watch by slow patterns", 20, [&](int) { f.ask(9, wire::watch{slow, false, {}, 0}); });
  f.ask(9, wire::watch{{"none"}, false, {}, 0});
  wire::watch_position now_there;
  do {
    f.ask(9, wire::watch{{"none"}, false, now_there, 0});
    const auto decoded = wire::decode(std::as_bytes(std::span(f.last.data(), f.last.size())));
    REQUIRE(decoded);
    now_there = std::get<wire::changes>(decoded->content).position;
  } while (now_there.until < f.service.map().newest_change());
  for (std::uint64_t n = 1; n <= watchers::most / 2; ++n) f.ask(n, wire::watch{slow, true, now_there, 10'000});
  f.now += 1min;
  f.measure("RegisterTopic that moves a topic of 4,096 participants", 5, [&](int i) {
    f.now += 1s;
    f.ask(1, full_broker::registration(0, 2 + i));
  });
  f.measure_turns("events");
  f.measure("RegisterTopic that moves a topic of 65,000 subscriptions", 5, [&](int i) {
    f.now += 1s;
    f.ask(1, full_broker::registration(1, 2 + i));
  });
  f.measure_turns("events");
  f.measure("tick", 1, [&](int) { f.service.tick(f.now); });
  f.measure_turns("processes of 4,096 participants");
  f.measure("Goodbye of one with 16,384 topics", 1, [&](int) { f.ask(1, wire::goodbye{}); });
  f.measure_turns("its topics, and the events");
  f.measure("Goodbye of one with 65,000 subscriptions", 1, [&](int) { f.ask(2, wire::goodbye{}); });
  f.measure_turns("its subscriptions");
  f.now += 2h;
  f.measure("tick when all leases end", 1, [&](int) { f.service.tick(f.now); });
  f.measure_turns("all that they had");
  CHECK(f.service.map().topic_count() == 0);
  CHECK(f.service.map().subscription_count() == 0);
}
