// conflate = 0: every sample in order, the last `depth` of them, the oldest dropped when full and counted.
#include <atomic>
#include <thread>

#include "conformance/link.h"
#include "support/catch.h"
#include "support/payload.h"
#include "support/wait_until.h"

using namespace orc::test;

TEMPLATE_TEST_CASE("in order: every sample of bursts below the depth arrives, in order", "[conformance][threads]",
                   ORC_TEST_TRANSPORTS) {
  linked<TestType> l(wanted<TestType>(0, 128));
  std::uint64_t sent = 0;
  std::uint64_t seen = 0;
  for (std::size_t burst = 0; burst < rounds(300, 5000); ++burst) {
    for (int n = 0; n < 100; ++n) REQUIRE(send_value(l.publisher, ++sent));
    while (seen < sent) {
      const auto got = l.subscriber.recv(patience_ms);
      REQUIRE(got);
      REQUIRE(value_of(got) == seen + 1);
      REQUIRE(got.missed() == 0);
      ++seen;
    }
    REQUIRE(l.subscriber.recv(0).status() == orc::errc::nothing_new);
  }
}

TEMPLATE_TEST_CASE("in order: when the queue is full the oldest are dropped and counted, the last one always arrives",
                   "[conformance][threads]", ORC_TEST_TRANSPORTS) {
  constexpr std::uint64_t depth = 16;
  linked<TestType> l(wanted<TestType>(0, depth));
  std::uint64_t sent = 0;
  std::uint64_t seen = 0;
  for (std::size_t round = 0; round < rounds(20, 200); ++round) {
    for (int n = 0; n < 5000; ++n) REQUIRE(send_value(l.publisher, ++sent));
    std::uint64_t returned = 0;
    while (seen < sent) {
      const auto got = l.subscriber.recv(patience_ms);
      REQUIRE(got);
      const std::uint64_t value = value_of(got);
      REQUIRE(value == seen + 1 + got.missed());
      seen = value;
      ++returned;
    }
    CHECK(returned >= depth);  // the last `depth` are there
  }
}

TEMPLATE_TEST_CASE("in order: depth 1 is a queue of one", "[conformance][threads]", ORC_TEST_TRANSPORTS) {
  linked<TestType> l(wanted<TestType>(0, 1));
  std::uint64_t sent = 0;
  std::uint64_t seen = 0;
  for (std::size_t round = 0; round < rounds(200, 2000); ++round) {
    for (int n = 0; n < 7; ++n) REQUIRE(send_value(l.publisher, ++sent));
    while (seen < sent) {
      const auto got = l.subscriber.recv(patience_ms);
      REQUIRE(got);
      REQUIRE(value_of(got) == seen + 1 + got.missed());
      seen = value_of(got);
    }
  }
}

TEMPLATE_TEST_CASE("in order: a recorder and a controller side by side, each gets what it asked for",
                   "[conformance][threads]", ORC_TEST_TRANSPORTS) {
  linked<TestType> l;  // conflate = 1
  extra_reader<TestType> recorder(l.address_broker, wanted<TestType>(0, 1024));
  const std::uint64_t last = rounds(20'000, 500'000);
  std::atomic<std::uint64_t> recorded{0};
  std::atomic<std::uint64_t> broken{0};
  std::atomic<std::uint64_t> newest{0};
  std::atomic<std::uint64_t> older{0};
  std::thread recording([&] {
    while (recorded < last) {
      const auto got = recorder.subscriber.recv(patience_ms);
      if (!got) return;
      if (value_of(got) != recorded + 1 || got.missed() != 0) ++broken;
      recorded = value_of(got);
    }
  });
  std::thread controlling([&] {
    while (newest < last) {
      const auto got = l.subscriber.recv(patience_ms);
      if (!got) return;
      if (value_of(got) <= newest) ++older;
      newest = value_of(got);
      work_for(std::chrono::microseconds(50));
    }
  });
  for (std::uint64_t value = 1; value <= last; ++value) {
    CHECK(send_value(l.publisher, value));
    // Keeps the recorder within its depth: what happens beyond is the test above.
    if (value % 512 == 0 && !wait_until([&] { return recorded + 512 >= value; })) break;
  }
  CHECK(wait_until([&] { return recorded == last && newest == last; }));
  recording.join();
  controlling.join();
  CHECK(broken == 0);
  CHECK(older == 0);
}

TEMPLATE_TEST_CASE("in order: large samples keep their order", "[conformance][threads]", ORC_TEST_TRANSPORTS) {
  linked<TestType> l(wanted<TestType>(0, 16));
  bytes sample = patterned(200'000);
  std::uint64_t sent = 0;
  for (std::size_t round = 0; round < rounds(20, 200, 3); ++round) {
    for (int n = 0; n < 10; ++n) {
      ++sent;
      std::memcpy(sample.data(), &sent, sizeof sent);
      REQUIRE(l.publisher.send(sample.data(), sample.size()));
    }
    for (std::uint64_t value = sent - 9; value <= sent; ++value) {
      const auto got = l.subscriber.recv(patience_ms);
      REQUIRE(got);
      CHECK(got.missed() == 0);
      REQUIRE(value_of(got) == value);
      REQUIRE(got.size() == sample.size());
    }
  }
}

TEMPLATE_TEST_CASE("in order: the descriptor stays readable until the queue is empty", "[conformance][threads]",
                   ORC_TEST_TRANSPORTS) {
  linked<TestType> l(wanted<TestType>(0, 64));
  const int fd = l.subscriber.fd();
  REQUIRE(fd >= 0);
  for (std::size_t round = 0; round < rounds(100, 1000); ++round) {
    for (std::uint64_t n = 1; n <= 10; ++n) REQUIRE(send_value(l.publisher, n));
    for (std::uint64_t n = 1; n <= 10; ++n) {
      REQUIRE(readable(fd, patience_ms));
      orc::message got;
      REQUIRE(wait_until([&] { return static_cast<bool>(got = l.subscriber.recv(0)); }));
      REQUIRE(value_of(got) == n);
    }
  }
}

TEMPLATE_TEST_CASE("in order: bad depths and modes are refused", "[conformance][threads]", ORC_TEST_TRANSPORTS) {
  broker_process address_broker;
  orc::participant receiver(address_broker.options());
  CHECK(receiver.request_topic("t", wanted<TestType>(1, 64, 0)).result().code() == orc::errc::bad_argument);
  CHECK(receiver.request_topic("t", wanted<TestType>(0, 65'537, 0)).result().code() == orc::errc::bad_argument);
  CHECK(receiver.request_topic("t", wanted<TestType>(2, 64, 0)).result().code() == orc::errc::bad_argument);
  CHECK(receiver.request_topic("t", wanted<TestType>(-1, 64, 0)).result().code() == orc::errc::bad_argument);
  CHECK(receiver.request_topic("t", wanted<TestType>(1, 0, -2)).result().code() == orc::errc::bad_argument);
  CHECK(!receiver.subscriber("t"));
  CHECK(receiver.request_topic("t", wanted<TestType>(0, 65'536, 0)).result());
}
