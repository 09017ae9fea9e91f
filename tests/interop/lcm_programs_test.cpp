// ORC and LCM programs exchange messages of every size, both ways, byte for byte.
#include <cstdio>
#include <string>

#include "interop/peers.h"
#include "support/own_network.h"

using namespace orc::test;

namespace {

const std::string url = "udpm://239.255.76.67:7667?ttl=0&recv_buf_size=4194304";
const std::string channel = "INTEROP";

// Around the border between one datagram and fragments, and beyond what a receive buffer holds.
const std::size_t sizes[] = {
    10,      1000,      65'000,    max_single(channel) - 1, max_single(channel), max_single(channel) + 1,
    100'000, 1'000'000, 10'000'000};

// From a peer of one kind to one of another, until some of each size have come. A message may be lost, as with LCM
// itself, so they are sent again and again; what comes must be right.
void exchange(kind from, kind to) {
  for (const kind which : {from, to}) {
    if (const auto why = missing(which)) return skip(*why);
  }
  if (std::string why; !enter_own_network(why)) return skip(why);
  peer receiver(to, "receive", {url, channel});
  std::uint32_t life = 0;
  for (const std::size_t size : sizes) {
    INFO(to_string(from) << " to " << to_string(to) << ", " << size << " bytes");
    peer sender = send(from, url, channel, {.life = ++life, .size = size, .hz = size > 500'000 ? 5.0 : 100.0});
    for (int arrived = 0; arrived < 3;) {
      const auto got = receiver.next();
      REQUIRE(got);
      CHECK(got->channel == channel);
      if (got->life != life) continue;  // of the sender before
      REQUIRE(is_told(*got, size));
      ++arrived;
    }
  }
}

}  // namespace

TEST_CASE("lcm programs: ORC to liblcm", "[interop]") { exchange(kind::orc, kind::lcm); }
TEST_CASE("lcm programs: liblcm to ORC", "[interop]") { exchange(kind::lcm, kind::orc); }
TEST_CASE("lcm programs: ORC to Python's lcm", "[interop]") { exchange(kind::orc, kind::python); }
TEST_CASE("lcm programs: Python's lcm to ORC", "[interop]") { exchange(kind::python, kind::orc); }

TEST_CASE("lcm programs: of a program that sends on many channels, ORC hears the one it asked for", "[interop]") {
  if (std::string why; !enter_own_network(why)) return skip(why);
  const std::string longest(63, 'x');
  // Channels that begin alike, and the longest name there may be; an LCM program numbers all its messages together.
  const std::vector<std::string> names = {"pose", "pos", "pose2", "pose.", longest, longest.substr(1)};
  std::string all;
  for (const auto& name : names) all += (all.empty() ? "" : ",") + name;
  for (const std::size_t size : {100u, 200'000u}) {
    std::vector<peer> receivers;
    for (const auto& name : names) receivers.emplace_back(kind::orc, "receive", std::vector<std::string>{url, name});
    const peer sender = send(kind::lcm, url, all, {.life = 0, .size = size, .hz = 20});
    for (std::uint32_t i = 0; i < names.size(); ++i) {
      INFO(names[i] << ", " << size << " bytes");
      for (int n = 0; n < 5; ++n) {
        const auto got = receivers[i].next();
        REQUIRE(got);
        CHECK(is_told(*got, size));
        CHECK(got->life == i);
      }
    }
  }
}

TEST_CASE("lcm programs: LCM_DEFAULT_URL names the network for both", "[interop]") {
  if (std::string why; !enter_own_network(why)) return skip(why);
  const std::vector<std::string> elsewhere = {"env", "LCM_DEFAULT_URL=udpm://239.255.76.68:7700?ttl=0"};
  peer elsewhere_orc(kind::orc, "receive", {"", channel}, elsewhere);
  peer elsewhere_lcm(kind::lcm, "receive", {"", channel}, elsewhere);
  const peer here = send(kind::orc, "", channel, {.life = 1, .size = 100, .hz = 100});
  peer default_lcm(kind::lcm, "receive", {"", channel});
  REQUIRE(default_lcm.next());
  const peer there = send(kind::orc, "", channel, {.life = 2, .size = 100, .hz = 100}, elsewhere);
  for (auto* each : {&elsewhere_orc, &elsewhere_lcm}) {
    const auto got = each->next();
    REQUIRE(got);
    CHECK(is_told(*got, 100));
    CHECK(got->life == 2);  // life 1 has been on the other network for some time
  }
}
