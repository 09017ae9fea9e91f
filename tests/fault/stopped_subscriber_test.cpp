// contract.md 2 and 3: nothing blocks, everything is bounded; readers that stop, never read, or lag.
#include <string>

#include "support/broker_process.h"
#include "support/catch.h"
#include "support/proc_stats.h"
#include "support/test_node.h"
#include "support/wait_until.h"

using namespace orc::test;

namespace {

struct scene {
  explicit scene(const std::string& transport, int conflate, std::size_t depth = 64) {
    for (test_node* node : {&publisher, &stopped, &other}) node->must("open " + address_broker.endpoint());
    publisher.must("register t " + transport);
    for (test_node* node : {&stopped, &other}) {
      // The one who is stopped reads as the test says, the other one always reads the newest.
      node->must("request t " + transport + " " + std::to_string(node == &stopped ? conflate : 1) + " " +
                 std::to_string(depth) + " " + std::to_string(patience_ms));
      node->must("collect t");
    }
  }

  broker_process address_broker;
  test_node publisher;
  test_node stopped;
  test_node other;
};

constexpr double hz = under_sanitizer ? 2000 : 10'000;

}  // namespace

TEST_CASE("nothing blocks: a subscriber stopped with SIGSTOP holds up neither the publisher nor the others",
          "[fault]") {
  const double seconds = long_run() ? 10 : 3;
  const auto count = static_cast<std::uint64_t>(hz * seconds);
  constexpr std::size_t size = 4096;
  for (const std::string transport : {"shm", "ipc", "tcp"}) {
    INFO(transport);
    scene s(transport, 1);
    s.publisher.must("stream t 4096 " + std::to_string(hz) + " 1000");
    REQUIRE(wait_until([&] { return s.stopped.stats("t").last_value == 1000; }));

    s.stopped.process().freeze();
    const proc_stats before = stats_of(s.publisher.process().pid());
    s.publisher.must("stream t 4096 " + std::to_string(hz) + " " + std::to_string(count));
    // Done while the reader is still stopped: no send waited for it.
    REQUIRE(wait_until([&] { return s.publisher.progress("t").done; },
                       patience + std::chrono::milliseconds(static_cast<int>(seconds * 1000))));
    const auto sent = s.publisher.progress("t");
    CHECK(sent.sent == count);
    CHECK(sent.failed == 0);
    std::printf("%s: slowest of %lu sends beside a stopped subscriber: %ld us\n", transport.c_str(),
                static_cast<unsigned long>(count), static_cast<long>(sent.slowest_us));
    CHECK(wait_until([&] { return s.other.stats("t").last_value == count; }));
    CHECK(s.other.stats("t").backwards == 0);

    const proc_stats after = stats_of(s.publisher.process().pid());
    CHECK(after.fds <= before.fds);
    // The one that streamed may take a moment to end.
    CHECK(wait_until([&] { return stats_of(s.publisher.process().pid()).threads <= before.threads; }));
    if (!under_sanitizer) CHECK(after.rss_kib < before.rss_kib + 24 * 1024);  // 120 MB were sent
    static_assert(size * 30'000 > 100'000'000);

    // The publisher has stopped as well: what the reader gets when it wakes up is the last sample.
    s.stopped.process().thaw();
    CHECK(wait_until([&] { return s.stopped.stats("t").last_value == count; }));
    CHECK(s.stopped.stats("t").backwards == 0);
    CHECK(s.stopped.stats("t").corrupt == 0);

    // And the stream goes on for it.
    s.publisher.must("stream t 4096 " + std::to_string(hz) + " 100");
    CHECK(wait_until([&] { return s.stopped.stats("t").last_value == 100; }));
  }
}

TEST_CASE("nothing blocks: a stopped recorder costs a bounded queue and nobody else's samples", "[fault]") {
  const std::uint64_t count = under_sanitizer ? 3000 : 40'000;
  for (const std::string transport : {"shm", "ipc", "tcp"}) {
    INFO(transport);
    scene s(transport, 0, 64);
    s.publisher.must("stream t 4096 " + std::to_string(hz) + " 100");
    REQUIRE(wait_until([&] { return s.stopped.stats("t").last_value == 100; }));
    s.stopped.process().freeze();
    const proc_stats before = stats_of(s.publisher.process().pid());
    s.publisher.must("stream t 4096 " + std::to_string(hz) + " " + std::to_string(count));
    REQUIRE(wait_until([&] { return s.publisher.progress("t").done; }, 2 * patience));
    CHECK(wait_until([&] { return s.other.stats("t").last_value == count; }));
    const proc_stats after = stats_of(s.publisher.process().pid());
    if (!under_sanitizer) CHECK(after.rss_kib < before.rss_kib + 80 * 1024);  // options.h: at most 64 MiB
    s.stopped.process().thaw();
    CHECK(wait_until([&] { return s.stopped.stats("t").last_value == count; }));
    const auto got = s.stopped.stats("t");
    CHECK(got.backwards == 0);
    CHECK(got.corrupt == 0);
    CHECK(got.received + got.missed == count + 100);
  }
}

TEST_CASE("nothing blocks: a stopped publisher keeps nobody from waiting with a time limit", "[fault]") {
  broker_process address_broker;
  test_node publisher;
  publisher.must("open " + address_broker.endpoint());
  publisher.must("register t ipc");
  test_node subscriber;
  subscriber.must("open " + address_broker.endpoint());
  subscriber.must("request t ipc 1 64 " + std::to_string(patience_ms));
  publisher.process().freeze();
  CHECK(subscriber.ask("recv t 50").starts_with("none"));
  CHECK(subscriber.ask("recv t 0").starts_with("none"));
  // Another subscriber cannot get its link now, but its call returns in time.
  test_node late;
  late.must("open " + address_broker.endpoint());
  CHECK(late.ask("request t ipc 1 64 100").starts_with("error"));
  publisher.process().thaw();
  publisher.must("send t 77 8");
  CHECK(subscriber.ask("recv t " + std::to_string(patience_ms)).starts_with("sample 1 77 "));
  CHECK(late.ask("recv t " + std::to_string(patience_ms)).starts_with("sample 1 77 "));
}

TEST_CASE("nothing blocks: a stopped broker stops no stream and no send", "[fault]") {
  broker_process address_broker;
  test_node publisher;
  publisher.must("open " + address_broker.endpoint() + " 3000");
  publisher.must("register t ipc");
  test_node subscriber;
  subscriber.must("open " + address_broker.endpoint());
  subscriber.must("request t ipc 0 1024 " + std::to_string(patience_ms));
  subscriber.must("collect t");
  address_broker.process().freeze();
  publisher.must("stream t 100 1000 2000");
  CHECK(publisher.ask("register u ipc").starts_with("error"));  // and returns
  CHECK(wait_until([&] { return subscriber.stats("t").last_value == 2000; }));
  CHECK(subscriber.stats("t").gaps == 0);
  address_broker.process().thaw();
  CHECK(wait_until([&] { return publisher.ask("register v ipc") == "ok"; }));
}
