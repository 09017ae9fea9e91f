// Shared topics: several participants publish one name, over each transport. A receive returns the newest of all, the
// last of each, or every sample of each in its order.
#include <algorithm>
#include <array>
#include <atomic>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "conformance/link.h"
#include "support/catch.h"
#include "support/payload.h"
#include "support/wait_until.h"

using namespace orc::test;

namespace {

constexpr const char* topic = "conformance/shared";

template <class Transport>
[[nodiscard]] orc::topic_options shared_offer() {
  auto options = offered<Transport>();
  options.shared = true;
  return options;
}

template <class Transport>
[[nodiscard]] orc::request_options each_of(int conflate = 1, std::size_t depth = 0) {
  auto options = wanted<Transport>(conflate, depth, 0);
  if (conflate == 1) options.newest_of = orc::newest_of::each;
  return options;
}

template <class Transport>
struct sharing {
  explicit sharing(std::size_t count) {
    for (std::size_t n = 0; n < count; ++n) add();
  }
  orc::publisher& add() {
    const std::string name = "sender" + std::to_string(senders.size());
    senders.push_back(std::make_unique<orc::participant>(address_broker.options(name)));
    require(senders.back()->register_topic(topic, shared_offer<Transport>()).result(), "register_topic");
    publishers.push_back(senders.back()->publisher(topic));
    return publishers.back();
  }
  orc::subscriber request(const orc::request_options& options) {
    receivers.push_back(std::make_unique<orc::participant>(address_broker.options("receiver")));
    require(receivers.back()->request_topic(topic, options).result(), "request_topic");
    auto made = receivers.back()->subscriber(topic);
    const auto links = [&] {
      const auto known = made.publishers();
      return std::count_if(known.begin(), known.end(), [](const auto& each) { return each.connected; });
    };
    if (!wait_until([&] { return links() == static_cast<std::ptrdiff_t>(senders.size()); }))
      throw std::runtime_error("not all links came up: " + made.link().reason);
    return made;
  }
  [[nodiscard]] std::string name_of(orc::subscriber& at, const orc::message& of) { return at.publisher_of(of).name; }

  broker_process address_broker;
  std::vector<std::unique_ptr<orc::participant>> senders;
  std::vector<orc::publisher> publishers;
  std::vector<std::unique_ptr<orc::participant>> receivers;
};

}  // namespace

TEMPLATE_TEST_CASE("shared: a receive returns the newest of all, and names its publisher", "[conformance][threads]",
                   ORC_TEST_TRANSPORTS) {
  sharing<TestType> s(3);
  auto sub = s.request(wanted<TestType>(1, 0, 0));
  for (std::uint64_t value = 1; value <= rounds(300, 3'000); ++value) {
    const std::size_t who = value % 3;
    REQUIRE(send_value(s.publishers[who], value));
    const auto got = sub.recv(patience_ms);
    REQUIRE(got);
    REQUIRE(value_of(got) == value);
    REQUIRE(got.publisher() != 0);
    REQUIRE(s.name_of(sub, got) == "sender" + std::to_string(who));
    REQUIRE(got.sequence() == (value + (who == 0 ? 0 : 3 - who)) / 3);
    REQUIRE(got.missed() == 0);
  }
  CHECK(sub.recv(0).status() == orc::errc::nothing_new);
  CHECK(sub.link().connected);
  CHECK(sub.link().transport == TestType::kind);
}

TEMPLATE_TEST_CASE("shared: unread samples of all publishers make way for the newest of all", "[conformance][threads]",
                   ORC_TEST_TRANSPORTS) {
  sharing<TestType> s(3);
  auto sub = s.request(wanted<TestType>(1, 0, 0));
  auto each = s.request(each_of<TestType>());
  for (std::uint64_t value = 1; value <= 9; ++value) REQUIRE(send_value(s.publishers[value % 3], value));
  // The last of each has come to the other subscription; here they arrive at about the same time.
  std::set<std::uint64_t> last;
  REQUIRE(wait_until([&] {
    if (const auto got = each.recv(0)) last.insert(value_of(got));
    return last.contains(7) && last.contains(8) && last.contains(9);
  }));
  std::uint64_t seen = 0;
  REQUIRE(wait_until([&] {
    if (const auto got = sub.recv(0)) {
      REQUIRE(value_of(got) > seen);
      seen = value_of(got);
    }
    return seen == 9;
  }));
  // What it dropped counts as missed of its own publisher.
  REQUIRE(send_value(s.publishers[1], 10));
  const auto got = sub.recv(patience_ms);
  REQUIRE(got);
  CHECK(value_of(got) == 10);
  CHECK(got.sequence() == 4);
  CHECK(got.missed() <= 3);
}

TEMPLATE_TEST_CASE("shared: the last of each comes once, also to a late joiner", "[conformance][threads]",
                   ORC_TEST_TRANSPORTS) {
  constexpr std::size_t count = 8;
  sharing<TestType> s(count);
  for (std::uint64_t round = 0; round < 5; ++round) {
    for (std::size_t n = 0; n < count; ++n) REQUIRE(send_value(s.publishers[n], 10 * round + n));
  }
  auto sub = s.request(each_of<TestType>());
  std::map<std::string, std::uint64_t> last;
  for (std::size_t n = 0; n < count; ++n) {
    const auto got = sub.recv(patience_ms);
    REQUIRE(got);
    CHECK(last.emplace(s.name_of(sub, got), value_of(got)).second);
  }
  for (std::size_t n = 0; n < count; ++n) CHECK(last["sender" + std::to_string(n)] == 40 + n);
  CHECK_FALSE(sub.recv(0));
  auto newest = s.request(wanted<TestType>(1, 0, 0));
  if (TestType::carries_stamps) {
    std::uint64_t seen = 0;
    CHECK(wait_until([&] {
      if (const auto got = newest.recv(0)) seen = value_of(got);
      return seen == 40 + count - 1;
    }));
  }
}

TEMPLATE_TEST_CASE("shared: with conflate = 0 every sample of each publisher comes in its order",
                   "[conformance][threads]", ORC_TEST_TRANSPORTS) {
  constexpr std::size_t count = 4;
  constexpr std::uint64_t samples = 20;  // at a time: a burst over multicast must fit into the receive buffers
  sharing<TestType> s(count);
  auto sub = s.request(each_of<TestType>(0, 1'000));
  std::atomic<std::size_t> failed{0};
  std::map<std::uint32_t, std::uint64_t> seen;
  for (std::uint64_t sent = 0; sent < 25 * samples; sent += samples) {
    std::vector<std::thread> threads;
    for (auto& each : s.publishers) {
      threads.emplace_back([&] {
        for (std::uint64_t value = sent + 1; value <= sent + samples; ++value) {
          if (!send_value(each, value)) ++failed;
          std::this_thread::yield();
        }
      });
    }
    for (auto& each : threads) each.join();
    for (std::uint64_t n = 0; n < count * samples; ++n) {
      const auto got = sub.recv(patience_ms);
      REQUIRE(got);
      REQUIRE(value_of(got) == ++seen[got.publisher()]);
      REQUIRE(got.sequence() == value_of(got));
      REQUIRE(got.missed() == 0);
    }
  }
  CHECK(failed == 0);
  CHECK(seen.size() == count);
}

TEMPLATE_TEST_CASE("shared: one descriptor and one wait for all publishers", "[conformance][threads]",
                   ORC_TEST_TRANSPORTS) {
  sharing<TestType> s(3);
  auto sub = s.request(each_of<TestType>());
  const int fd = sub.fd();
  REQUIRE(fd >= 0);
  for (std::uint64_t value = 1; value <= rounds(60, 600); ++value) {
    while (sub.recv(0)) {
    }
    REQUIRE(send_value(s.publishers[value % 3], value));
    orc::message got;
    while (!got) {
      REQUIRE(readable(fd, patience_ms));
      got = sub.recv(0);
    }
    REQUIRE(value_of(got) == value);
  }
  REQUIRE(wait_until([&] {
    while (sub.recv(0)) {
    }
    return !readable(fd, 0);
  }));
  // Several threads wait: each sample goes to one of them.
  std::atomic<std::uint64_t> received{0};
  std::vector<std::thread> threads;
  for (int n = 0; n < 3; ++n) {
    threads.emplace_back([&] {
      while (const auto got = sub.recv(-1)) received += value_of(got);
    });
  }
  for (std::uint64_t value = 1; value <= 30; ++value) {
    REQUIRE(send_value(s.publishers[value % 3], 1));
    REQUIRE(wait_until([&] { return received == value; }));
  }
  (void)s.receivers.back()->release_topic(topic);
  for (auto& each : threads) each.join();
}

TEMPLATE_TEST_CASE("shared: publishers come and go, and the last sample of one that went still comes",
                   "[conformance][threads]", ORC_TEST_TRANSPORTS) {
  sharing<TestType> s(2);
  auto sub = s.request(each_of<TestType>());
  REQUIRE(send_value(s.publishers[0], 1));
  REQUIRE(s.senders[0]->unregister_topic(topic));
  auto got = sub.recv(patience_ms);
  REQUIRE(got);
  CHECK(value_of(got) == 1);
  CHECK(s.name_of(sub, got) == "sender0");
  REQUIRE(wait_until([&] { return sub.publishers().size() == 1; }));
  CHECK(s.name_of(sub, got) == "sender0");  // remembered
  REQUIRE(s.senders[0]->register_topic(topic, shared_offer<TestType>()));
  auto again = s.senders[0]->publisher(topic);
  REQUIRE(again.wait_readers(1, patience_ms));
  REQUIRE(send_value(again, 2));
  got = sub.recv(patience_ms);
  REQUIRE(got);
  CHECK(value_of(got) == 2);
  CHECK(got.sequence() == 1);
  REQUIRE(s.senders[0]->unregister_topic(topic));
  REQUIRE(s.senders[1]->unregister_topic(topic));
  REQUIRE(wait_until([&] { return !sub.connected(); }));
  // The name is free for one publisher alone, whom the same subscription hears.
  REQUIRE(s.senders[1]->register_topic(topic, offered<TestType>()));
  auto alone = s.senders[1]->publisher(topic);
  REQUIRE(sub.wait_connected(patience_ms));
  REQUIRE(send_value(alone, 3));
  REQUIRE(wait_until([&] { return value_of(got = sub.recv(0)) == 3; }));
  CHECK(got.publisher() == 0);
  REQUIRE(s.senders[1]->unregister_topic(topic));
  auto& third = s.add();
  REQUIRE(third.wait_readers(1, patience_ms));
  REQUIRE(send_value(third, 4));
  REQUIRE(wait_until([&] { return value_of(got = sub.recv(0)) == 4; }));
  CHECK(s.name_of(sub, got) == "sender2");
}

TEMPLATE_TEST_CASE(
    "shared: stamps decide between publishers, ids between equal stamps, and a clock ahead silences none",
    "[conformance][threads]", inproc, shm, ipc, tcp) {
  sharing<TestType> s(2);
  auto sub = s.request(wanted<TestType>(1, 0, 0));
  auto each = s.request(each_of<TestType>());
  const auto send = [&](std::size_t who, std::uint64_t value, std::int64_t stamp_ns) {
    REQUIRE(s.publishers[who].send(&value, sizeof value, stamp_ns));
    REQUIRE(wait_until([&] { return value_of(each.recv(0)) == value; }));
  };
  const auto next = [&] {
    orc::message got;
    REQUIRE(wait_until([&] { return static_cast<bool>(got = sub.recv(0)); }));
    return value_of(got);
  };
  constexpr std::int64_t then = 1'000'000'000'000;
  send(0, 1, then + 10);
  CHECK(next() == 1);
  send(1, 2, then + 9);  // sent before, and came later
  send(1, 3, then + 11);
  const auto got = sub.recv(patience_ms);
  REQUIRE(got);
  CHECK(value_of(got) == 3);
  CHECK(got.sequence() == 2);
  CHECK(got.missed() == 1);
  // Of one publisher the sequence decides, whatever its clock does.
  send(1, 4, then + 12);
  CHECK(next() == 4);
  send(1, 5, then + 11);
  CHECK(next() == 5);
  // Equal stamps: each subscriber ends with the same one.
  const auto known = sub.publishers();
  REQUIRE(known.size() == 2);
  const std::size_t winner = (known[0].id > known[1].id ? known[0] : known[1]).name == "sender0" ? 0 : 1;
  send(winner, 6, then + 20);
  CHECK(next() == 6);
  send(1 - winner, 7, then + 20);
  send(winner, 8, then + 21);
  CHECK(next() == 8);
  send(1 - winner, 9, then + 22);
  CHECK(next() == 9);
  send(winner, 10, then + 22);
  CHECK(next() == 10);
  // A clock that was set back, or is ahead.
  send(0, 11, orc::detail::realtime_ns() + 3'600'000'000'000);
  CHECK(next() == 11);
  send(1, 12, then + 23);
  CHECK(next() == 12);
}
