// Ten thousand joins, none deaf; a thousand connections made and ended, nothing left behind.
#include <atomic>
#include <string>
#include <thread>

#include "conformance/link.h"
#include "support/catch.h"
#include "support/payload.h"
#include "support/proc_stats.h"
#include "support/wait_until.h"

using namespace orc::test;

TEMPLATE_TEST_CASE("joins: none of thousands is deaf: each gets the last value and the next sample",
                   "[stress][threads]", ORC_TEST_TRANSPORTS) {
  broker_process address_broker;
  orc::participant sender(address_broker.options());
  REQUIRE(sender.register_topic("t", offered<TestType>()).result());
  auto publisher = sender.publisher("t");
  std::uint64_t value = 1;
  REQUIRE(send_value(publisher, value));
  orc::participant receiver(address_broker.options());
  const std::size_t joins = rounds(700, 3500, 70);
  for (std::size_t n = 0; n < joins; ++n) {
    INFO("join " << n);
    // With and without waiting for the link: the last value must come either way.
    REQUIRE(
        receiver
            .request_topic("t", wanted<TestType>(n % 2 == 0 ? 1 : 0, n % 2 == 0 ? 0 : 64, n % 3 == 0 ? 0 : patience_ms))
            .result());
    auto got = receiver.recv_msg("t", patience_ms);
    REQUIRE(got);
    REQUIRE(value_of(got) == value);
    REQUIRE(send_value(publisher, ++value));
    got = receiver.recv_msg("t", patience_ms);
    REQUIRE(got);
    REQUIRE(value_of(got) == value);
    REQUIRE(receiver.release_topic("t"));
  }
}

TEMPLATE_TEST_CASE("joins: of several at once beside a running stream none is deaf", "[stress][threads]",
                   ORC_TEST_TRANSPORTS) {
  broker_process address_broker;
  orc::participant sender(address_broker.options());
  REQUIRE(sender.register_topic("t", offered<TestType>()).result());
  auto publisher = sender.publisher("t");
  std::atomic<bool> stop{false};
  std::atomic<std::uint64_t> sent{0};
  std::thread stream([&] {
    while (!stop) {
      if (send_value(publisher, sent + 1)) ++sent;
      std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
  });
  std::atomic<std::size_t> deaf{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      orc::participant receiver(address_broker.options());
      for (std::size_t n = 0; n < rounds(100, 1000, 10); ++n) {
        if (!receiver.request_topic("t", wanted<TestType>(1, 0, 0)).result()) ++deaf;
        std::uint64_t seen = 0;
        for (int k = 0; k < 3; ++k) {
          const auto got = receiver.recv_msg("t", patience_ms);
          if (!got || value_of(got) <= seen) ++deaf;
          seen = value_of(got);
        }
        if (!receiver.release_topic("t")) ++deaf;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  stop = true;
  stream.join();
  CHECK(deaf == 0);
}

namespace {

// What the process costs once that has not changed for so long.
proc_stats stats_at_rest(std::chrono::milliseconds quiet) {
  proc_stats last = stats_of();
  auto since = std::chrono::steady_clock::now();
  CHECK(wait_until([&] {
    const auto now = std::chrono::steady_clock::now();
    if (const auto found = stats_of(); found.fds != last.fds || found.threads != last.threads) {
      last = found;
      since = now;
    }
    return now - since >= quiet;
  }));
  return last;
}

// Runs `cycle` a few times, notes what the process costs, runs it many times more: it must cost the same.
template <class Cycle>
void stays_flat(std::size_t cycles, Cycle&& cycle, std::chrono::milliseconds quiet = {}) {
  for (int n = 0; n < 30; ++n) cycle();
  const proc_stats before = stats_at_rest(quiet);
  for (std::size_t n = 0; n < cycles; ++n) cycle();
  // libzmq closes sockets in the background.
  CHECK(wait_until([&] { return stats_of().fds <= before.fds && stats_of().threads <= before.threads; }));
  const proc_stats after = stats_of();
  INFO("fds " << before.fds << " -> " << after.fds << ", threads " << before.threads << " -> " << after.threads
              << ", RSS " << before.rss_kib << " -> " << after.rss_kib << " KiB");
  CHECK(after.fds <= before.fds);
  if (!under_sanitizer) CHECK(after.rss_kib < before.rss_kib + 6 * 1024);
}

}  // namespace

TEMPLATE_TEST_CASE("bounded: a thousand requests and releases leave nothing behind", "[stress][threads]",
                   ORC_TEST_TRANSPORTS) {
  broker_process address_broker;
  orc::participant sender(address_broker.options());
  REQUIRE(sender.register_topic("t", offered<TestType>()).result());
  REQUIRE(sender.send_msg("t", "x", 1));
  orc::participant receiver(address_broker.options());
  stays_flat(rounds(1000, 1000, 50), [&] {
    REQUIRE(receiver.request_topic("t", wanted<TestType>()).result());
    REQUIRE(receiver.recv_msg("t", patience_ms));
    REQUIRE(receiver.release_topic("t"));
  });
  CHECK(wait_until([&] { return sender.publisher("t").readers() == 0; }));
}

TEMPLATE_TEST_CASE("bounded: registrations and withdrawals leave nothing behind", "[stress][threads]",
                   ORC_TEST_TRANSPORTS) {
  broker_process address_broker;
  orc::participant sender(address_broker.options());
  orc::participant receiver(address_broker.options());
  // One of many: the broker pushes a topic that comes and goes without end ten times a second.
  constexpr std::uint64_t topics = 20;
  const auto name_of = [](std::uint64_t n) { return "t" + std::to_string(n % topics); };
  for (std::uint64_t n = 0; n < topics; ++n)
    REQUIRE(receiver.request_topic(name_of(n), wanted<TestType>(1, 0, 0)).result());
  // Over multicast a link outlives its publication by 3 s; then the subscription hears all senders on the channel.
  const std::chrono::milliseconds quiet(TestType::kind == orc::transport::multicast ? 3500 : 0);
  std::uint64_t value = 0;
  const auto cycle = [&] {
    const std::string topic = name_of(++value);
    REQUIRE(sender.register_topic(topic, offered<TestType>()).result());
    REQUIRE(sender.send_msg(topic, &value, sizeof value));
    const auto got = receiver.recv_msg(topic, patience_ms);
    REQUIRE(value_of(got) == value);
    REQUIRE(sender.unregister_topic(topic));
  };
  stays_flat(rounds(100, 1000, 30), cycle, quiet);
}

TEST_CASE("bounded: whole participants come and go and leave nothing behind", "[stress][threads]") {
  broker_process address_broker;
  orc::participant sender(address_broker.options());
  REQUIRE(
      sender.register_topic("t", {.transports = {orc::transport::inproc, orc::transport::ipc, orc::transport::tcp}}));
  REQUIRE(sender.send_msg("t", "x", 1));
  std::size_t n = 0;
  stays_flat(rounds(300, 1000, 30), [&] {
    ++n;
    const auto kind = n % 3 == 0 ? orc::transport::inproc : n % 3 == 1 ? orc::transport::ipc : orc::transport::tcp;
    orc::participant receiver(address_broker.options());
    REQUIRE(receiver.request_topic("t", {.connected_within = patience, .transports = {kind}}).result());
    REQUIRE(receiver.recv_msg("t", patience_ms));
    REQUIRE(receiver.register_topic("back").result());
  });
}

TEMPLATE_TEST_CASE("bounded: a subscriber that never reads costs nothing, and then gets the newest",
                   "[stress][threads]", ORC_TEST_TRANSPORTS) {
  linked<TestType> l;
  const std::uint64_t warm = rounds(100'000, 100'000);
  const std::uint64_t last = rounds(1'000'000, 5'000'000);
  std::uint64_t value = 0;
  while (value < warm) REQUIRE(send_value(l.publisher, ++value));
  const proc_stats before = stats_of();
  while (value < last) {
    if (!send_value(l.publisher, ++value)) FAIL("send " << value);
  }
  const proc_stats after = stats_of();
  INFO("RSS " << before.rss_kib << " -> " << after.rss_kib << " KiB");
  if (!under_sanitizer) CHECK(after.rss_kib < before.rss_kib + 6 * 1024);
  CHECK(after.fds <= before.fds);
  std::uint64_t seen = 0;
  while (seen != last) {
    const auto got = l.subscriber.recv(patience_ms);
    REQUIRE(got);
    REQUIRE(value_of(got) > seen);
    seen = value_of(got);
  }
}

TEST_CASE("bounded: many topics of one participant", "[stress][threads]") {
  broker_process address_broker;
  orc::participant sender(address_broker.options());
  orc::participant receiver(address_broker.options());
  const std::size_t topics = rounds(300, 1000, 40);
  for (std::size_t n = 0; n < topics; ++n) {
    const std::string topic = "many/" + std::to_string(n);
    REQUIRE(sender.register_topic(topic).result());
    REQUIRE(receiver.request_topic(topic).result());
    REQUIRE(sender.send_msg(topic, &n, sizeof n));
  }
  for (std::size_t n = 0; n < topics; ++n) {
    REQUIRE(value_of(receiver.recv_msg("many/" + std::to_string(n), patience_ms)) == n);
  }
  CHECK(stats_of().threads < 32);
}
