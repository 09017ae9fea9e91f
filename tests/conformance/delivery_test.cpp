// What is sent is what is received: bytes, sequence, stamp, missed.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <vector>

#include "conformance/link.h"
#include "support/catch.h"
#include "support/payload.h"
#include "support/test_node.h"
#include "support/wait_until.h"

using namespace orc::test;

namespace {

std::int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch())
      .count();
}

}  // namespace

// Around libzmq's inline limit (33 bytes with the header), its 8 KiB read batch, and larger than any socket buffer.
TEMPLATE_TEST_CASE("delivery: every size arrives byte for byte", "[conformance][threads]", ORC_TEST_TRANSPORTS) {
  linked<TestType> l;
  std::uint64_t sequence = 0;
  for (const std::size_t size : {0u,   1u,    9u,    10u,   16u,   17u,   18u,   33u,     34u,        255u,
                                 256u, 4096u, 8175u, 8176u, 8191u, 8192u, 8193u, 65'536u, 1'000'000u, 10'000'000u}) {
    const bytes sent = patterned(size, sequence);
    REQUIRE(l.publisher.send(sent.empty() ? nullptr : sent.data(), sent.size()));
    const auto got = l.subscriber.recv(patience_ms);
    INFO("size " << size);
    REQUIRE(got);
    CHECK(holds(got, sent));
    CHECK(got.sequence() == ++sequence);
    CHECK(got.missed() == 0);
  }
}

// Large samples are written from the sender's memory, and what is not written at once is copied.
TEMPLATE_TEST_CASE("delivery: the sender's memory is its own again after each send", "[conformance][threads]",
                   ORC_TEST_TRANSPORTS) {
  linked<TestType> l(wanted<TestType>(0, 64));
  const std::size_t sizes[] = {3'000'000, 100, 2047, 2048, 2'000'000, 40'000, 40'000, 3'000'000, 3'000'000, 9000};
  std::vector<bytes> sent;
  for (const std::size_t size : sizes) {
    sent.push_back(patterned(size, sent.size()));
    bytes memory = sent.back();
    REQUIRE(l.publisher.send(memory.data(), memory.size()));
    std::fill(memory.begin(), memory.end(), static_cast<unsigned char>(0xee));
  }
  const extra_reader<TestType> late(l.address_broker, wanted<TestType>());
  for (std::size_t n = 0; n < sent.size(); ++n) {
    const auto got = l.subscriber.recv(patience_ms);
    INFO("sample " << n);
    REQUIRE(got);
    CHECK(got.missed() == 0);
    CHECK(holds(got, sent[n]));
  }
  auto last = late.subscriber;
  CHECK(holds(last.recv(patience_ms), sent.back()));
}

TEMPLATE_TEST_CASE("delivery: the four calls by name do the same as the handles", "[conformance][threads]",
                   ORC_TEST_TRANSPORTS) {
  linked<TestType> l;
  const bytes sent = patterned(100);
  REQUIRE(l.sender.send_msg(l.topic, sent.data(), sent.size()));
  const auto got = l.receiver.recv_msg(l.topic, patience_ms);
  REQUIRE(got);
  CHECK(holds(got, sent));
  CHECK(got.sequence() == 1);

  CHECK(l.sender.send_msg("no/such", sent.data(), sent.size()).code() == orc::errc::not_registered);
  CHECK(l.receiver.send_msg(l.topic, sent.data(), sent.size()).code() == orc::errc::not_registered);
  CHECK(l.receiver.recv_msg("no/such", 0).status() == orc::errc::not_requested);
  CHECK(l.sender.recv_msg(l.topic, 0).status() == orc::errc::not_requested);
  CHECK(!l.sender.publisher("no/such"));
  CHECK(!l.receiver.subscriber("no/such"));
  CHECK(!l.sender.loan("no/such", 10));
}

TEMPLATE_TEST_CASE("delivery: the link that was asked for is the one in use, and says why", "[conformance][threads]",
                   ORC_TEST_TRANSPORTS) {
  linked<TestType> l;
  CHECK(l.subscriber.connected());
  CHECK(l.subscriber.wait_connected(0));
  const auto info = l.subscriber.link();
  CHECK(info.connected);
  CHECK(info.transport == TestType::kind);
  CHECK(!info.reason.empty());
  CHECK(wait_until([&] { return l.publisher.readers() == 1; }));
}

TEMPLATE_TEST_CASE("delivery: sequence numbers begin at 1 and skipped samples are counted with the next one",
                   "[conformance][threads]", ORC_TEST_TRANSPORTS) {
  linked<TestType> l;
  REQUIRE(send_value(l.publisher, 1));
  auto got = l.subscriber.recv(patience_ms);
  REQUIRE(got);
  REQUIRE(got.sequence() == 1);

  std::uint64_t last = 1;
  std::uint64_t returned = 1;
  std::uint64_t missed = 0;
  for (std::uint64_t burst = 0; burst < rounds(200, 2000); ++burst) {
    for (int n = 0; n < 5; ++n) REQUIRE(send_value(l.publisher, ++last));
    for (std::uint64_t seen = 0; seen != last;) {
      got = l.subscriber.recv(patience_ms);
      REQUIRE(got);
      seen = got.sequence();
      REQUIRE(value_of(got) == seen);
      ++returned;
      missed += got.missed();
    }
  }
  // Every sample was either returned or counted.
  CHECK(returned + missed == last);
}

TEMPLATE_TEST_CASE("delivery: stamps and ages are those of the sending", "[conformance][threads]",
                   ORC_TEST_TRANSPORTS) {
  linked<TestType> l;
  std::int64_t previous = 0;
  for (int n = 0; n < 20; ++n) {
    const std::int64_t before = now_ns();
    REQUIRE(send_value(l.publisher, 1));
    const std::int64_t after = now_ns();
    const auto got = l.subscriber.recv(patience_ms);
    REQUIRE(got);
    CHECK(got.stamp_ns() >= before);
    CHECK(got.stamp_ns() <= (TestType::carries_stamps ? after : now_ns()));
    CHECK(got.stamp_ns() >= previous);
    CHECK(got.stamp().time_since_epoch().count() == got.stamp_ns());
    const std::int64_t age = got.age_ns();
    CHECK(age >= 0);
    CHECK(age <= now_ns() - got.stamp_ns());
    previous = got.stamp_ns();
  }
}

TEMPLATE_TEST_CASE("delivery: a sample has the stamp that its sender gives it", "[conformance][threads]",
                   ORC_TEST_TRANSPORTS) {
  linked<TestType> l;
  if (!TestType::carries_stamps) return skip("the format has no stamps");
  for (const std::size_t size : {std::size_t{8}, std::size_t{100'000}}) {
    const std::int64_t stamp = 1'700'000'000'000'000'000 + static_cast<std::int64_t>(size);
    const bytes sample = patterned(size);
    REQUIRE(l.publisher.send(sample.data(), sample.size(), stamp));
    const auto got = l.subscriber.recv(patience_ms);
    CHECK(holds(got, sample));
    CHECK(got.stamp_ns() == stamp);
  }
  CHECK(l.publisher.send("x", 1, 0).code() == orc::errc::bad_argument);
  CHECK(l.publisher.send("x", 1, -1).code() == orc::errc::bad_argument);
  CHECK(l.subscriber.recv(0).status() == orc::errc::nothing_new);
}

TEMPLATE_TEST_CASE("delivery: copy_to copies what fits", "[conformance][threads]", ORC_TEST_TRANSPORTS) {
  linked<TestType> l;
  const bytes sent = patterned(64);
  REQUIRE(l.publisher.send(sent.data(), sent.size()));
  const auto got = l.subscriber.recv(patience_ms);
  REQUIRE(got);
  bytes small(10, 0xEE);
  CHECK(got.copy_to(small.data(), small.size()) == 10);
  CHECK(std::memcmp(small.data(), sent.data(), 10) == 0);
  bytes large(100, 0xEE);
  CHECK(got.copy_to(large.data(), large.size()) == 64);
  CHECK(large[64] == 0xEE);
  CHECK(got.bytes().size() == 64);
}

TEMPLATE_TEST_CASE("delivery: several subscribers get the same samples", "[conformance][threads]",
                   ORC_TEST_TRANSPORTS) {
  linked<TestType> l;
  std::vector<std::unique_ptr<extra_reader<TestType>>> more;
  for (int n = 0; n < 4; ++n) more.push_back(std::make_unique<extra_reader<TestType>>(l.address_broker));
  CHECK(wait_until([&] { return l.publisher.readers() == 5; }));
  for (std::uint64_t value = 1; value <= rounds(500, 5000); ++value) {
    REQUIRE(send_value(l.publisher, value));
    const auto got = l.subscriber.recv(patience_ms);
    REQUIRE(got);
    REQUIRE(value_of(got) == value);
    for (auto& reader : more) {
      const auto copy = reader->subscriber.recv(patience_ms);
      REQUIRE(copy);
      REQUIRE(value_of(copy) == value);
      REQUIRE(copy.sequence() == got.sequence());
      if (TestType::carries_stamps) REQUIRE(copy.stamp_ns() == got.stamp_ns());
    }
  }
}

TEMPLATE_TEST_CASE("delivery: a message keeps its bytes when newer samples come and the topic goes",
                   "[conformance][threads]", ORC_TEST_TRANSPORTS) {
  std::vector<orc::message> kept;
  auto options = wanted<TestType>();
  if (TestType::kind == orc::transport::shm) options.max_messages = 32;
  {
    linked<TestType> l(options);
    for (std::uint64_t n = 0; n < 32; ++n) {
      const bytes sent = patterned(5000, n);
      REQUIRE(l.publisher.send(sent.data(), sent.size()));
      auto got = l.subscriber.recv(patience_ms);
      REQUIRE(got);
      kept.push_back(std::move(got));
    }
    CHECK(l.receiver.release_topic(l.topic));
    CHECK(l.sender.unregister_topic(l.topic));
  }
  for (std::uint64_t n = 0; n < 32; ++n) CHECK(holds(kept[n], patterned(5000, n)));
}

TEMPLATE_TEST_CASE("delivery: bad arguments are refused and change nothing", "[conformance][threads]",
                   ORC_TEST_TRANSPORTS) {
  linked<TestType> l;
  CHECK(l.publisher.send(nullptr, 1).code() == orc::errc::bad_argument);
  CHECK(l.publisher.send(orc::message{}).code() == orc::errc::bad_argument);
  CHECK(l.publisher.send(orc::loan{}).code() == orc::errc::bad_argument);
  CHECK(l.subscriber.recv(-2).status() == orc::errc::bad_argument);
  CHECK(l.subscriber.recv(0).status() == orc::errc::nothing_new);
  REQUIRE(send_value(l.publisher, 7));
  const auto got = l.subscriber.recv(patience_ms);
  REQUIRE(got);
  CHECK(got.sequence() == 1);
}

TEST_CASE("delivery: across processes every size arrives whole, on shm, ipc and tcp", "[conformance][threads]") {
  for (const auto kind : {orc::transport::shm, orc::transport::ipc, orc::transport::tcp}) {
    const std::string name(orc::to_string(kind));
    INFO(name);
    broker_process address_broker;
    test_node publisher;
    test_node subscriber;
    publisher.must("open " + address_broker.endpoint());
    subscriber.must("open " + address_broker.endpoint());
    publisher.must("register far " + name);
    subscriber.must("request far " + name + " 1 64 " + std::to_string(patience_ms));
    CHECK(subscriber.ask("link far").starts_with(name + " "));
    std::uint64_t value = 0;
    for (const std::size_t size : {8u, 17u, 33u, 34u, 8192u, 65'536u, 1'000'000u, 10'000'000u}) {
      ++value;
      publisher.must("send far " + std::to_string(value) + " " + std::to_string(size));
      CHECK(subscriber.ask("recv far " + std::to_string(patience_ms)) ==
            "sample " + std::to_string(value) + " " + std::to_string(value) + " " + std::to_string(size) + " 0");
    }
  }
}
