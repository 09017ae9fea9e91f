// What only shared memory has: a limit to the messages that are held, a history, memory options.
#include <cstring>
#include <optional>
#include <thread>
#include <vector>

#include "conformance/link.h"
#include "support/catch.h"
#include "support/payload.h"
#include "support/proc_stats.h"
#include "support/wait_until.h"

using namespace orc::test;

namespace {

struct pair {
  explicit pair(orc::topic_options offer = {}, orc::request_options wish = {}) {
    offer.transports = wish.transports = {orc::transport::shm};
    wish.connected_within = patience;
    require(sender->register_topic("t", offer).result(), "register_topic");
    require(receiver->request_topic("t", wish).result(), "request_topic");
    publisher = sender->publisher("t");
    subscriber = receiver->subscriber("t");
  }
  void send(std::uint64_t from, std::uint64_t to) {
    for (; from <= to; ++from) require(send_value(publisher, from), "send");
  }

  broker_process address_broker;
  std::optional<orc::participant> sender{address_broker.options("sender")};
  std::optional<orc::participant> receiver{address_broker.options("receiver")};
  orc::publisher publisher;
  orc::subscriber subscriber;
};

orc::request_options holding(std::size_t most, int conflate = 1) {
  return {.conflate = conflate, .depth = conflate == 0 ? 64U : 0U, .max_messages = most};
}

}  // namespace

TEST_CASE("shm: who holds too many messages is told so at once, and nobody else is held up", "[conformance][threads]") {
  for (const std::size_t most : {std::size_t{1}, std::size_t{3}, std::size_t{60}}) {
    pair p({}, holding(most));
    orc::participant other(p.address_broker.options("other"));
    require(other.request_topic("t", {.connected_within = patience}).result(), "request_topic");
    auto witness = other.subscriber("t");
    std::vector<orc::message> held;
    std::uint64_t value = 0;
    orc::message got;
    for (;;) {
      p.send(value + 1, value + 1);
      ++value;
      got = p.subscriber.recv(patience_ms);
      if (!got) break;
      REQUIRE(value_of(got) == value);
      held.push_back(std::move(got));
      REQUIRE(held.size() <= most + 2);
    }
    INFO("max_messages " << most << ", held " << held.size());
    CHECK(held.size() >= most);
    CHECK(got.status() == orc::errc::too_many_messages);
    CHECK(p.subscriber.recv(0).status() == orc::errc::too_many_messages);
    CHECK(p.subscriber.recv_next(-1).status() == orc::errc::too_many_messages);
    for (int n = 0; n < 1000; ++n) {
      p.send(value + 1, value + 1);
      ++value;
      REQUIRE(value_of(witness.recv(patience_ms)) == value);
    }
    for (std::size_t n = 0; n < held.size(); ++n) REQUIRE(value_of(held[n]) == n + 1);
    // Dropping one, whichever, makes room: for the newest.
    held.erase(held.begin() + static_cast<std::ptrdiff_t>(held.size() / 2));
    got = p.subscriber.recv(patience_ms);
    REQUIRE(got);
    CHECK(value_of(got) == value);
    CHECK(got.missed() == value - held.size() - 2);
    // When there is nothing, there is not too much.
    CHECK(p.subscriber.recv(0).status() == orc::errc::nothing_new);
    CHECK(p.subscriber.recv(1).status() == orc::errc::timed_out);
  }
}

TEST_CASE("shm: in order, too many messages cost no place in the queue", "[conformance][threads]") {
  pair p({}, holding(4, 0));
  p.send(1, 30);
  std::vector<orc::message> held;
  for (;;) {
    auto got = p.subscriber.recv(patience_ms);
    if (!got) {
      CHECK(got.status() == orc::errc::too_many_messages);
      break;
    }
    held.push_back(std::move(got));
  }
  REQUIRE(held.size() >= 4);
  std::uint64_t expected = held.size();
  while (expected < 30) {
    held.erase(held.begin());
    held.push_back(p.subscriber.recv(patience_ms));
    REQUIRE(value_of(held.back()) == ++expected);
    REQUIRE(held.back().missed() == 0);
  }
}

TEST_CASE("shm: next goes through the history in order and counts what fell out of it", "[conformance][threads]") {
  pair p({.history = 8});
  p.send(1, 20);
  for (std::uint64_t value = 13; value <= 20; ++value) {
    const auto got = p.subscriber.recv_next(patience_ms);
    REQUIRE(value_of(got) == value);
    CHECK(got.missed() == (value == 13 ? 12 : 0));
  }
  CHECK(p.subscriber.recv_next(0).status() == orc::errc::nothing_new);
  CHECK(p.subscriber.recv_next(1).status() == orc::errc::timed_out);
  // Newest and next, mixed: neither goes back.
  p.send(21, 25);
  CHECK(value_of(p.subscriber.recv_next(0)) == 21);
  auto got = p.subscriber.recv(0);
  CHECK(value_of(got) == 25);
  CHECK(got.missed() == 3);
  CHECK(p.subscriber.recv_next(0).status() == orc::errc::nothing_new);
  p.send(26, 28);
  CHECK(value_of(p.subscriber.recv_next(0)) == 26);
  CHECK(value_of(p.receiver->recv_next("t", 0)) == 27);
  CHECK(value_of(p.subscriber.recv(0)) == 28);
  // Larger memory has the same history.
  p.send(29, 31);
  const bytes large = patterned(100'000);
  REQUIRE(p.publisher.send(large.data(), large.size()));
  for (std::uint64_t value = 29; value <= 31; ++value) CHECK(value_of(p.subscriber.recv_next(patience_ms)) == value);
  got = p.subscriber.recv_next(patience_ms);
  CHECK(holds(got, large));
  CHECK(got.missed() == 0);
  // It waits, too.
  std::thread later([&] { p.send(33, 34); });
  CHECK(value_of(p.subscriber.recv_next(patience_ms)) == 33);
  CHECK(value_of(p.subscriber.recv_next(patience_ms)) == 34);
  later.join();
  // Who joins begins with the newest.
  orc::participant late(p.address_broker.options("late"));
  REQUIRE(late.request_topic("t", {.connected_within = patience}).result());
  CHECK(value_of(late.recv_next("t", patience_ms)) == 34);
  p.send(35, 36);
  got = late.recv_next("t", patience_ms);
  CHECK(value_of(got) == 35);
  CHECK(got.missed() == 0);
}

TEST_CASE("shm: a history of one has the newest", "[conformance][threads]") {
  pair p;
  p.send(1, 5);
  const auto got = p.subscriber.recv_next(0);
  CHECK(value_of(got) == 5);
  CHECK(got.missed() == 4);
}

TEMPLATE_TEST_CASE("next: forward only, the newest in the end, and every sample is counted", "[conformance][threads]",
                   ORC_TEST_TRANSPORTS) {
  for (const int conflate : {1, 0}) {
    linked<TestType> l(wanted<TestType>(conflate));
    std::uint64_t sent = 0;
    std::uint64_t seen = 0;
    for (std::size_t round = 0; round < rounds(50, 1000); ++round) {
      for (int n = 0; n < 20; ++n) REQUIRE(send_value(l.publisher, ++sent));
      while (seen < sent) {
        const bool newest = conflate != 0 && round % 3 == 0;
        const auto got = newest ? l.subscriber.recv(patience_ms) : l.subscriber.recv_next(patience_ms);
        REQUIRE(got);
        REQUIRE(value_of(got) == seen + 1 + got.missed());
        if (conflate == 0) REQUIRE(got.missed() == 0);
        seen = value_of(got);
      }
      REQUIRE(l.subscriber.recv_next(0).status() == orc::errc::nothing_new);
    }
    REQUIRE(l.receiver.release_topic(l.topic));
    CHECK(l.subscriber.recv_next(0).status() == orc::errc::closed);
    CHECK(l.receiver.recv_next(l.topic, 0).status() == orc::errc::not_requested);
  }
}

TEST_CASE("shm: messages stay as they are when their topic is released and their participant ends",
          "[conformance][threads]") {
  pair p;
  orc::participant other(p.address_broker.options("other"));
  REQUIRE(other.request_topic("t", {.connected_within = patience}).result());
  const std::size_t mapped = stats_of().shm_mapped;
  const bytes first = patterned(5000, 1);
  const bytes second = patterned(300, 2);
  const auto send_many = [&] {
    for (std::uint64_t n = 1; n <= 1000; ++n) {
      const bytes sample = patterned(n * 7, n);
      REQUIRE(p.publisher.send(sample.data(), sample.size()));
    }
  };
  REQUIRE(p.publisher.send(first.data(), first.size()));
  auto a = p.subscriber.recv(patience_ms);
  REQUIRE(p.publisher.send(second.data(), second.size()));
  auto b = p.subscriber.recv(patience_ms);
  REQUIRE(holds(a, first));
  REQUIRE(holds(b, second));
  REQUIRE(p.receiver->release_topic("t"));
  send_many();
  CHECK(holds(a, first));
  p.receiver.reset();
  send_many();
  CHECK(holds(a, first));
  CHECK(holds(b, second));
  CHECK(p.publisher.readers() == 1);
  p.sender.reset();
  CHECK(holds(a, first));
  a = {};
  CHECK(holds(b, second));
  b = {};
  CHECK(wait_until([&] { return stats_of().shm_mapped < mapped; }));
}

TEST_CASE("shm: requested again while messages of before are alive", "[conformance][threads]") {
  pair p;
  std::vector<orc::message> held;
  for (std::uint64_t value = 1; value <= rounds(50, 300); ++value) {
    p.send(value, value);
    held.push_back(p.subscriber.recv(patience_ms));
    REQUIRE(value_of(held.back()) == value);
    REQUIRE(p.receiver->release_topic("t"));
    REQUIRE(p.receiver->request_topic("t", {.connected_within = patience}).result());
    p.subscriber = p.receiver->subscriber("t");
    REQUIRE(value_of(p.subscriber.recv(patience_ms)) == value);
  }
  for (std::size_t n = 0; n < held.size(); ++n) REQUIRE(value_of(held[n]) == n + 1);
}
