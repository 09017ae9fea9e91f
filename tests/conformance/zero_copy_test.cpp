// Forwarding by move, and writing in place.
#include <cstdint>
#include <cstring>

#include "conformance/link.h"
#include "support/alloc_counter.h"
#include "support/catch.h"
#include "support/payload.h"
#include "support/wait_until.h"

using namespace orc::test;

namespace {

// sender --conformance/topic--> receiver --onwards--> sender
template <class Transport>
struct relay : linked<Transport> {
  relay() {
    require(this->receiver.register_topic("onwards", offered<Transport>()).result(), "register_topic");
    require(this->sender.request_topic("onwards", wanted<Transport>()).result(), "request_topic");
    onwards = this->receiver.publisher("onwards");
    end = this->sender.subscriber("onwards");
  }
  orc::publisher onwards;
  orc::subscriber end;
};

}  // namespace

TEMPLATE_TEST_CASE("zero copy: a received message can be sent on", "[conformance][threads]", ORC_TEST_TRANSPORTS) {
  relay<TestType> r;
  for (const std::size_t size : {0u, 1u, 10u, 33u, 1000u, 1'000'000u}) {
    const bytes sent = patterned(size, 3);
    REQUIRE(r.publisher.send(sent.data(), sent.size()));
    auto got = r.subscriber.recv(patience_ms);
    REQUIRE(got);
    REQUIRE(r.onwards.send(std::move(got)));
    CHECK(!got);  // NOLINT(bugprone-use-after-move): the contract says what it is now
    CHECK(got.size() == 0);
    const auto forwarded = r.end.recv(patience_ms);
    REQUIRE(forwarded);
    CHECK(holds(forwarded, sent));
  }
  // By name.
  const bytes sent = patterned(5000);
  REQUIRE(r.sender.send_msg(r.topic, sent.data(), sent.size()));
  REQUIRE(r.receiver.send_msg("onwards", r.receiver.recv_msg(r.topic, patience_ms)));
  CHECK(holds(r.sender.recv_msg("onwards", patience_ms), sent));
}

TEST_CASE("zero copy: inproc forwards 100 MB without moving a byte", "[conformance][threads]") {
  relay<inproc> r;
  const std::size_t size = under_sanitizer ? 10'000'000 : 100'000'000;
  auto filled = r.publisher.loan(size);
  REQUIRE(filled);
  REQUIRE(filled.size() == size);
  void* const memory = filled.data();
  std::memset(memory, 0x5A, size);
  REQUIRE(r.publisher.send(std::move(filled)));
  auto got = r.subscriber.recv(patience_ms);
  REQUIRE(got);
  CHECK(got.size() == size);
  CHECK(got.data() == memory);
  REQUIRE(r.onwards.send(std::move(got)));
  const auto forwarded = r.end.recv(patience_ms);
  REQUIRE(forwarded);
  CHECK(forwarded.data() == memory);
  CHECK(static_cast<const unsigned char*>(forwarded.data())[size - 1] == 0x5A);
}

TEST_CASE("zero copy: inproc shares the bytes of one sample among its readers", "[conformance][threads]") {
  linked<inproc> l;
  extra_reader<inproc> second(l.address_broker);
  const bytes sent = patterned(1'000'000);
  REQUIRE(l.publisher.send(sent.data(), sent.size()));
  const auto a = l.subscriber.recv(patience_ms);
  const auto b = second.subscriber.recv(patience_ms);
  REQUIRE(a);
  REQUIRE(b);
  CHECK(a.data() == b.data());
  CHECK(holds(a, sent));
}

TEMPLATE_TEST_CASE("zero copy: a loan is written in place and sent", "[conformance][threads]", ORC_TEST_TRANSPORTS) {
  linked<TestType> l;
  for (const std::size_t size : {1u, 8u, 10u, 100u, 8192u, 1'000'000u}) {
    const bytes content = patterned(size, 9);
    auto filled = l.publisher.loan(size);
    REQUIRE(filled);
    REQUIRE(filled.size() == size);
    CHECK(reinterpret_cast<std::uintptr_t>(filled.data()) % 8 == 0);
    std::memcpy(filled.data(), content.data(), size);
    REQUIRE(l.publisher.send(std::move(filled)));
    CHECK(!filled);  // NOLINT(bugprone-use-after-move)
    const auto got = l.subscriber.recv(patience_ms);
    REQUIRE(got);
    CHECK(holds(got, content));
  }
}

TEMPLATE_TEST_CASE("zero copy: a dropped loan sends nothing and takes no sequence number", "[conformance][threads]",
                   ORC_TEST_TRANSPORTS) {
  linked<TestType> l;
  for (int n = 0; n < 100; ++n) {
    const auto dropped = l.publisher.loan(1000);
    REQUIRE(dropped);
  }
  auto empty = l.publisher.loan(0);
  if (empty) CHECK(empty.size() == 0);
  auto first = l.publisher.loan(8);
  auto second = l.publisher.loan(8);
  REQUIRE(first);
  REQUIRE(second);
  REQUIRE(first.data() != second.data());
  std::memset(first.data(), 1, 8);
  std::memset(second.data(), 2, 8);
  REQUIRE(l.publisher.send(std::move(second)));
  auto got = l.subscriber.recv(patience_ms);
  REQUIRE(got);
  CHECK(got.sequence() == 1);
  CHECK(got.bytes()[0] == std::byte{2});
  REQUIRE(l.publisher.send(std::move(first)));
  got = l.subscriber.recv(patience_ms);
  REQUIRE(got);
  CHECK(got.sequence() == 2);
  CHECK(got.bytes()[0] == std::byte{1});
}

TEMPLATE_TEST_CASE("zero copy: a loan too large for this machine is false, not the end", "[conformance][threads]",
                   ORC_TEST_TRANSPORTS) {
  if (under_sanitizer) return skip("sanitizers end the program for an allocation of this size");
  linked<TestType> l;
  CHECK(!l.publisher.loan(SIZE_MAX));
  CHECK(!l.publisher.loan(SIZE_MAX - 16));
  CHECK(!l.publisher.loan(SIZE_MAX / 2));
  REQUIRE(send_value(l.publisher, 1));
  CHECK(l.subscriber.recv(patience_ms));
}

TEMPLATE_TEST_CASE("steady state: send and recv allocate nothing of ORC's own", "[conformance][threads]",
                   ORC_TEST_TRANSPORTS) {
  if (!alloc_counter::counts()) return skip("a sanitizer has the operator new");
  linked<TestType> l;
  for (const std::size_t size : {8u, 1000u, 100'000u}) {
    const bytes sample = patterned(size);
    const auto exchange = [&](int samples) {
      bool all = true;
      for (int n = 0; n < samples; ++n) {
        all = all && l.publisher.send(sample.data(), sample.size());
        all = all && l.subscriber.recv(patience_ms);
      }
      return all;
    };
    REQUIRE(exchange(200));
    bool all = false;
    std::size_t allocations = 0;
    {
      const alloc_counter counter;
      all = exchange(1000);
      allocations = counter.count();
    }
    INFO(size << " bytes");
    CHECK(all);
    CHECK(allocations == 0);
  }
}
