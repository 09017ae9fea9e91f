// Two hosts: what may leave one, and what comes to the other.
#include <string>

#include "interop/peers.h"
#include "support/net_namespace.h"

using namespace orc::test;

TEST_CASE("two hosts: TTL 1 crosses the cable, TTL 0 stays on its host", "[interop]") {
  using host = two_hosts::host;
  std::string why;
  const auto hosts = two_hosts::make(why);
  if (!hosts) return skip(why);
  const std::string here = "udpm://239.255.76.67:7667?ttl=0";
  const std::string everywhere = "udpm://239.255.76.67:7667?ttl=1";
  const std::string channel = "TTL";
  constexpr std::size_t size = 5000;
  for (const kind from : {kind::orc, kind::lcm}) {
    for (const kind to : {kind::orc, kind::lcm}) {
      if (from == kind::lcm && to == kind::lcm) continue;
      INFO(to_string(from) << " to " << to_string(to));
      peer on_a(to, "receive", {here, channel}, hosts->on(host::a));
      peer on_b(to, "receive", {here, channel}, hosts->on(host::b));
      const peer local = send(from, here, channel, {.life = 1, .size = size, .hz = 100}, hosts->on(host::a));
      for (int i = 0; i < 5; ++i) {
        const auto got = on_a.next();
        REQUIRE(got);
        CHECK(is_told(*got, size));
      }
      // From now on both send: were the first one to leave its host, it would be heard first.
      const peer global = send(from, everywhere, channel, {.life = 2, .size = size, .hz = 50}, hosts->on(host::a));
      for (int i = 0; i < 10; ++i) {
        const auto got = on_b.next();
        REQUIRE(got);
        CHECK(is_told(*got, size));
        CHECK(got->life == 2);
      }
    }
  }
}

TEST_CASE("two hosts: LCM programs take the fragments that ORC cuts to fit the network", "[interop]") {
  using host = two_hosts::host;
  std::string why;
  const auto hosts = two_hosts::make(why);
  if (!hosts) return skip(why);
  const std::string url = "udpm://239.255.76.67:7667?ttl=1&recv_buf_size=4194304";
  for (const kind to : {kind::lcm, kind::python}) {
    if (missing(to)) continue;
    for (const std::size_t size : {1400u, 1500u, 65'498u, 1'000'000u}) {
      INFO(to_string(to) << ", " << size << " bytes");
      const std::string channel = "CUT" + std::to_string(size);
      peer receiver(to, "receive", {url, channel}, hosts->on(host::b));
      const peer sender = send(kind::orc, url, channel, {.size = size, .hz = 10}, hosts->on(host::a));
      for (int n = 0; n < 3; ++n) {
        const auto got = receiver.next();
        REQUIRE(got);
        CHECK(is_told(*got, size));
      }
    }
  }
}

// What the kernel keeps on this host it keeps for members of the group: without one, TTL 0 would be left to the cable.
TEST_CASE("two hosts: TTL 0 stays on its host although nobody listens there", "[interop]") {
  using host = two_hosts::host;
  std::string why;
  const auto hosts = two_hosts::make(why);
  if (!hosts) return skip(why);
  const std::string group = "udpm://239.255.76.67:7667?ttl=";
  for (const kind to : {kind::orc, kind::lcm}) {
    INFO("orc to " << to_string(to));
    peer on_b(to, "receive", {group + "0", "ALONE"}, hosts->on(host::b));
    const peer local = send(kind::orc, group + "0", "ALONE", {.life = 1, .size = 800, .hz = 200}, hosts->on(host::a));
    const peer global = send(kind::orc, group + "1", "ALONE", {.life = 2, .size = 800, .hz = 50}, hosts->on(host::a));
    for (int i = 0; i < 20; ++i) {
      const auto got = on_b.next();
      REQUIRE(got);
      CHECK(got->life == 2);
    }
  }
}

// ORC sends by lo; LCM programs send and join by the route.
TEST_CASE("two hosts: TTL 0 links ORC and LCM whichever way multicast is routed", "[interop]") {
  using host = two_hosts::host;
  for (const bool to_lo : {true, false}) {
    std::string why;
    const auto hosts = two_hosts::make(why);
    if (!hosts) return skip(why);
    const std::string network = hosts->on(host::a).back();
    REQUIRE(hosts->remove_multicast_route(host::a, why));
    REQUIRE(run_command(
        {"ip", "-n", network, "route", "add", to_lo ? "224.0.0.0/4" : "default", "dev", to_lo ? "lo" : network}, why));
    for (const kind from : {kind::orc, kind::lcm, kind::python}) {
      for (const kind to : {kind::orc, kind::lcm, kind::python}) {
        if ((from != kind::orc && to != kind::orc) || missing(from) || missing(to)) continue;
        INFO(to_string(from) << " to " << to_string(to) << (to_lo ? ", routed to lo" : ", default route"));
        const std::string url = "udpm://239.255.76.67:7667?ttl=0";
        peer receiver(to, "receive", {url, "ROUTES"}, hosts->on(host::a));
        const peer sender = send(from, url, "ROUTES", {.size = 5000, .hz = 50}, hosts->on(host::a));
        for (int n = 0; n < 5; ++n) {
          const auto got = receiver.next();
          REQUIRE(got);
          CHECK(is_told(*got, 5000));
        }
      }
    }
  }
}

TEST_CASE("two hosts: an interface that the URL names needs no multicast route", "[interop]") {
  using host = two_hosts::host;
  std::string why;
  const auto hosts = two_hosts::make(why);
  if (!hosts) return skip(why);
  const auto url_on = [&](host which) {
    REQUIRE(hosts->remove_multicast_route(which, why));
    return "udpm://239.255.76.67:7667?ttl=1&interface=" + hosts->on(which).back();
  };
  const std::string url_a = url_on(host::a);
  const std::string url_b = url_on(host::b);
  peer on_b(kind::orc, "receive", {url_b, "NAMED"}, hosts->on(host::b));
  const peer on_a = send(kind::orc, url_a, "NAMED", {.size = 5000, .hz = 50}, hosts->on(host::a));
  for (int i = 0; i < 5; ++i) {
    const auto got = on_b.next();
    REQUIRE(got);
    CHECK(is_told(*got, 5000));
  }
}
