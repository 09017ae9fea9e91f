#include "calls/client_conversation.h"

#include <cstddef>

#include "support/catch.h"

using namespace std::chrono_literals;
using orc::detail::client_conversation;
using orc::detail::server_check;

TEST_CASE("client conversation: welcomes that repeat on a slow way do not repeat each hello", "[unit]") {
  constexpr std::uint64_t server = 7;
  constexpr std::size_t pairs = 64;
  orc::detail::monotonic::time_point now{1h};
  client_conversation of;
  for (std::size_t n = 0; n < pairs; ++n) static_cast<void>(of.add_types(now));
  of.begin();
  REQUIRE(of.take_welcome(server, now).check);
  of.check_begun();
  of.check_ended();
  std::size_t hellos = of.take_check(server_check::answer::server::same, true, now).greet ? pairs : 0;
  for (int n = 0; n < 30; ++n) {
    now += 100ms;
    const auto next = of.take_welcome(server, now);
    CHECK(next.ask);
    if (next.greet) hellos += pairs;
  }
  CHECK(hellos > 2 * pairs);  // one may be lost
  CHECK(hellos <= 5 * pairs);
}
