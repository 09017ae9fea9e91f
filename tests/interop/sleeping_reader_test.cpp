// A reader that does not read for seconds, under load: it gets the newest, where liblcm gives it what its queue held.
#include <cstdio>
#include <string>

#include "interop/peers.h"
#include "support/own_network.h"

using namespace orc::test;

TEST_CASE("sleeping reader: after 5 s at 10 MB/s the first sample it reads is the newest", "[interop]") {
  std::string why;
  if (!enter_own_network(why)) return skip(why);
  const std::string url = "udpm://239.255.76.67:7667?ttl=0&recv_buf_size=4194304";
  const std::string channel = "SLEEP";
  constexpr std::size_t size = 100'000;
  constexpr unsigned count = 500;
  peer orc(kind::orc, "hold", {url, channel});
  peer lcm(kind::lcm, "hold", {url, channel});
  peer sender = send(kind::orc, url, channel, {.size = size, .count = count, .hz = 100});
  REQUIRE(sender.line() == "sent " + std::to_string(count));
  orc.tell("read");
  lcm.tell("read");
  const auto first = orc.next();
  REQUIRE(first);
  CHECK(is_told(*first, size));
  CHECK(first->number == count);
  CHECK(orc.rest(std::chrono::milliseconds(200)).empty());
  const auto of_lcm = lcm.rest(std::chrono::milliseconds(500));
  REQUIRE(!of_lcm.empty());
  std::printf("sleeping reader: of %u samples ORC read number %u, then nothing; liblcm read %zu, from %u to %u\n",
              count, first->number, of_lcm.size(), of_lcm.front().number, of_lcm.back().number);
}
