// The window that bulk connections to one host share.
#include "transport/stream/bulk_share.h"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <vector>

#include "base/files/unique_fd.h"
#include "support/catch.h"

using namespace std::chrono_literals;
using orc::detail::bulk_share;
using orc::detail::monotonic;
using orc::detail::unique_fd;

namespace {

constexpr std::size_t segment = 1448;

// A connection on which a sender puts bytes, and a receiver takes them.
struct connection {
  explicit connection(bulk_share& of) : share(of) {
    std::array<int, 2> ends{};
    REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends.data()) == 0);
    from.reset(ends[0]);
    to.reset(ends[1]);
    who.fd = from.get();
    share.join(who);
  }
  ~connection() { share.leave(who); }
  connection(const connection&) = delete;
  connection& operator=(const connection&) = delete;

  std::size_t ask(monotonic::time_point now, std::chrono::microseconds shortest = 1ms) {
    return share.ask(who, arrived, shortest, segment, by_reader, true, now);
  }
  void send(std::size_t size) {
    const std::vector<char> bytes(size);
    REQUIRE(::send(from.get(), bytes.data(), size, 0) == static_cast<ssize_t>(size));
  }
  void arrive() {
    std::array<char, 65536> bytes{};
    for (;;) {
      const ssize_t got = ::recv(to.get(), bytes.data(), bytes.size(), 0);
      if (got <= 0) return;
      arrived += static_cast<std::uint64_t>(got);
    }
  }

  bulk_share& share;
  unique_fd from;
  unique_fd to;
  bulk_share::member who;
  std::uint64_t arrived = 0;
  bool by_reader = false;
};

}  // namespace

TEST_CASE("bulk_share: on a slow path one connection has one segment on the way, and each has its turn", "[unit]") {
  bulk_share share;
  connection first(share);
  connection second(share);
  connection third(share);
  monotonic::time_point now{1h};
  std::array<int, 3> turns{};
  for (int i = 0; i < 300; ++i) {
    int granted = 0;
    for (auto* const each : {&first, &second, &third}) {
      const std::size_t room = each->ask(now);
      if (room == 0) continue;
      ++granted;
      ++turns[each == &first ? 0 : each == &second ? 1 : 2];
      CHECK(room <= 2 * segment);
      each->send(room);
    }
    CHECK(granted <= 1);
    now += 25ms;  // 0.5 Mbit/s
    for (auto* const each : {&first, &second, &third}) each->arrive();
  }
  CHECK_FALSE(share.is_fast());
  for (const int each : turns) CHECK(each >= 95);
}

TEST_CASE("bulk_share: a fast path needs no turns, until it is slow", "[unit]") {
  bulk_share share;
  connection only(share);
  monotonic::time_point now{1h};
  const auto run = [&](std::chrono::microseconds time, int rounds) {
    for (int i = 0; i < rounds; ++i) {
      const std::size_t room = only.ask(now);
      if (room != 0) only.send(std::min<std::size_t>(room, 100'000));
      now += time;
      only.arrive();
    }
  };
  run(100us, 50);
  CHECK(share.is_fast());
  CHECK(only.ask(now) == bulk_share::unlimited);
  run(40ms, 100);  // 100 kB: 2.5 MB/s
  CHECK_FALSE(share.is_fast());
}

TEST_CASE("bulk_share: a reader that stands still holds up the others for half a second", "[unit]") {
  bulk_share share;
  connection stopped(share);
  connection other(share);
  monotonic::time_point now{1h};
  stopped.send(stopped.ask(now));
  CHECK(other.ask(now) == 0);
  for (int i = 0; i < 49; ++i) CHECK(other.ask(now += 10ms) == 0);
  CHECK(other.ask(now += 20ms) != 0);
}

TEST_CASE("bulk_share: a reader that is slower than the path holds up nobody", "[unit]") {
  bulk_share share;
  connection slow(share);
  connection other(share);
  monotonic::time_point now{1h};
  slow.send(slow.ask(now));
  CHECK(other.ask(now) == 0);
  slow.by_reader = true;
  CHECK(slow.ask(now += 1ms) != 0);
  CHECK(other.ask(now += 1ms) != 0);
}
