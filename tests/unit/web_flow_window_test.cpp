// What is on the way to a client stays little for a slow one.
#include "tools/web/http/flow_window.h"

#include "support/catch.h"
#include "tools/web/http/message_allowance.h"

using namespace std::chrono_literals;
using orc::web::flow_window;
using orc::web::message_allowance;

namespace {

// Sends while there is room, and answers each ping after `delay`. Returns the bytes sent before it had no room.
void fill(flow_window& window, flow_window::clock::time_point& now, std::chrono::milliseconds delay) {
  std::optional<std::uint32_t> ping;
  for (int i = 0; i < 100'000 && window.has_room(); ++i) {
    window.sent(1000);
    if (const auto next = window.next_ping(now)) ping = next;
  }
  if (!ping) ping = window.next_ping(now);
  REQUIRE(ping);
  now += delay;
  window.answered(*ping, now);
}

}  // namespace

TEST_CASE("web flow window: it is small for a slow client and large for a fast one", "[web]") {
  flow_window::clock::time_point now{1h};
  flow_window slow;
  for (int i = 0; i < 20; ++i) fill(slow, now, 500ms);
  CHECK(slow.size() == flow_window::min_bytes);
  flow_window fast;
  for (int i = 0; i < 20; ++i) fill(fast, now, 1ms);
  CHECK(fast.size() == flow_window::max_bytes);
}

TEST_CASE("web flow window: answers that were not asked for change nothing", "[web]") {
  flow_window::clock::time_point now{1h};
  flow_window window;
  while (window.has_room()) window.sent(1000);
  window.answered(0, now);
  window.answered(1, now);
  CHECK_FALSE(window.has_room());
  const auto ping = window.next_ping(now);
  REQUIRE(ping);
  CHECK_FALSE(window.next_ping(now));
  window.answered(*ping + 1, now);
  CHECK_FALSE(window.has_room());
  window.answered(*ping, now);
  CHECK(window.has_room());
}

TEST_CASE("web message allowance: a burst passes, a flood does not", "[web]") {
  message_allowance allowance;
  message_allowance::clock::time_point now{1h};
  int taken = 0;
  while (allowance.take(100, now)) ++taken;
  CHECK(taken == 400);
  now += 1s;
  taken = 0;
  while (allowance.take(100, now)) ++taken;
  CHECK(taken == 200);
}

TEST_CASE("web message allowance: large messages count by their bytes", "[web]") {
  message_allowance allowance;
  message_allowance::clock::time_point now{1h};
  const std::size_t large = std::size_t{64} << 10;
  int taken = 0;
  while (allowance.take(large, now)) ++taken;
  CHECK(taken == 16);
  now += 1s;
  taken = 0;
  while (allowance.take(large, now)) ++taken;
  CHECK(taken == 4);
  CHECK(allowance.take(0, now));
}
