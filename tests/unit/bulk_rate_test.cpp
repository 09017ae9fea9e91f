// The rate of a bulk topic's connection, for paths that are made up.
#include <algorithm>
#include <chrono>

#include "support/catch.h"
#include "transport/stream/bulk_pace.h"

using namespace std::chrono_literals;
using orc::detail::bulk_rate;
using orc::detail::monotonic;

namespace {

// A link with a first-in, first-out queue. The connection always has something to send.
struct path {
  explicit path(std::uint64_t bytes_per_second) : capacity(bytes_per_second) {}

  void run(std::chrono::milliseconds time) {
    worst = 0us;
    const auto until = now + time;
    const auto before = delivered;
    while (now < until) {
      constexpr std::uint64_t steps = 1000;  // 1 ms each
      now += 1ms;
      queue += rate.rate() / steps;
      const std::uint64_t sent = std::min(queue, capacity / steps);
      queue -= sent;
      delivered += sent;
      const auto wait = std::chrono::microseconds(queue * 1'000'000 / capacity);
      worst = std::max(worst, wait);
      const auto in_flight = static_cast<std::uint32_t>(queue / 1448 + 2);
      if (now >= rate.next())
        rate.take({.acknowledged = delivered, .round_trip = length + wait, .in_flight = in_flight}, now);
    }
    throughput = (delivered - before) * 1000 / static_cast<std::uint64_t>(time.count());
  }

  bulk_rate rate;
  monotonic::time_point now{1h};
  std::uint64_t capacity;
  std::chrono::microseconds length{1ms};
  std::uint64_t queue = 0;
  std::uint64_t delivered = 0;
  std::chrono::microseconds worst{};
  std::uint64_t throughput = 0;
};

constexpr std::uint64_t slow_link = 2'500'000;  // 20 Mbit/s

}  // namespace

TEST_CASE("bulk_rate: keeps the queue of a slow link short and uses most of the link", "[unit]") {
  path link(slow_link);
  link.run(1s);
  link.run(30s);
  CHECK(link.worst <= 4ms);
  CHECK(link.throughput >= slow_link * 7 / 10);
}

TEST_CASE("bulk_rate: finds the rate of a fast link", "[unit]") {
  path link(1'000'000'000);
  link.run(2s);
  link.run(5s);
  CHECK(link.throughput >= link.capacity * 7 / 10);
}

TEST_CASE("bulk_rate: follows a path that becomes slower, faster and longer", "[unit]") {
  path link(slow_link * 10);
  link.run(5s);
  link.capacity = slow_link;
  link.run(5s);
  link.run(5s);
  CHECK(link.worst <= 4ms);
  link.capacity = slow_link * 10;
  link.run(5s);
  link.run(5s);
  CHECK(link.throughput >= slow_link * 7);
  link.length = 30ms;  // the shortest round trip is out of date
  link.run(25s);
  link.run(15s);
  CHECK(link.throughput >= slow_link * 6);
}

TEST_CASE("bulk_rate: a peer that lies gets the slowest rate, and no less", "[unit]") {
  bulk_rate rate;
  auto now = monotonic::time_point(1h);
  std::uint64_t acknowledged = 0;
  for (int n = 0; n < 10'000; ++n) {
    now += 10ms;
    rate.take({.acknowledged = acknowledged += 20'000, .round_trip = n % 2 == 0 ? 1us : 3600s, .in_flight = 100}, now);
    REQUIRE(rate.rate() >= bulk_rate::slowest);
    REQUIRE(rate.rate() <= bulk_rate::fastest);
    REQUIRE(rate.next() <= now + 1s);
  }
  for (int n = 0; n < 10'000; ++n) {  // and one that acknowledges everything at once cannot pass the fastest
    now += 10ms;
    rate.take({.acknowledged = acknowledged += std::uint64_t{1} << 50, .round_trip = 1us}, now);
    REQUIRE(rate.rate() <= bulk_rate::fastest);
  }
  CHECK(rate.rate() == bulk_rate::fastest);
}
