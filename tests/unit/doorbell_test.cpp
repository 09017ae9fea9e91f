// Waking: no ring after a ticket is ever lost, by futex and by descriptor.
#include <poll.h>

#include <atomic>
#include <thread>

#include "base/threads/doorbell.h"
#include "support/catch.h"

namespace {

using orc::detail::deadline;
using orc::detail::doorbell;

bool readable(int fd) {
  pollfd watched{fd, POLLIN, 0};
  return poll(&watched, 1, 0) == 1;
}

}  // namespace

TEST_CASE("doorbell: a ring after the ticket ends the wait at once", "[threads]") {
  doorbell bell;
  const auto ticket = bell.ticket();
  bell.ring();
  bell.wait(ticket, deadline(-1));
  CHECK(bell.ticket() != ticket);
}

TEST_CASE("doorbell: its descriptor is readable from a ring until it is cleared", "[threads]") {
  doorbell bell;
  REQUIRE(bell.fd() >= 0);
  CHECK(bell.fd() == bell.fd());
  CHECK_FALSE(readable(bell.fd()));
  bell.ring();
  bell.ring();
  CHECK(readable(bell.fd()));
  bell.clear();
  CHECK_FALSE(readable(bell.fd()));
}

TEST_CASE("doorbell: no wake-up is lost between two threads that take turns", "[threads]") {
  doorbell ping;
  doorbell pong;
  std::atomic<int> turn{0};
  constexpr int turns = 20000;
  const auto await = [&turn](doorbell& bell, int wanted) {
    for (;;) {
      const auto ticket = bell.ticket();
      if (turn.load() >= wanted) return;
      bell.wait(ticket, deadline(-1));
    }
  };
  std::thread other([&] {
    for (int n = 1; n < turns; n += 2) {
      await(ping, n);
      turn.store(n + 1);
      pong.ring();
    }
  });
  for (int n = 0; n < turns; n += 2) {
    turn.store(n + 1);
    ping.ring();
    await(pong, n + 2);
  }
  other.join();
  CHECK(turn.load() == turns);
}
