// The broker is reached by one network, and multicast goes by another.
#include <memory>
#include <string>

#include "network/lab.h"
#include "network/streams.h"
#include "support/catch.h"
#include "support/wait_until.h"

using namespace orc::test;

namespace {

// The broker's host 2 is reached by eth0. Hosts 0 and 1 also have a cable between them: eth1.
std::unique_ptr<lab> make_lab(std::string& why) {
  auto hosts = lab::make(3, why);
  if (!hosts) return nullptr;
  const auto pid = [&](std::size_t host) { return std::to_string((*hosts)[host].pid()); };
  if (!run_command(
          {"ip", "link", "add", "eth1", "netns", pid(0), "type", "veth", "peer", "name", "eth1", "netns", pid(1)}, why))
    return nullptr;
  for (std::size_t host = 0; host < 2; ++host) {
    const auto number = std::to_string(host + 1);
    (*hosts)[host].sh("ip addr add 10.79.0." + number + "/24 dev eth1; ip addr add fd79::" + number +
                      "/64 dev eth1 nodad; ip link set eth1 up");
  }
  return hosts;
}

}  // namespace

TEST_CASE("12: multicast goes by another interface than the way to the broker", "[network]") {
  std::string why;
  const auto hosts = make_lab(why);
  if (!hosts) return skip(why);
  const lab_broker broker((*hosts)[2]);
  const std::string v4 = "udpm://239.255.76.67:7667?ttl=1";
  const std::string routed = "ip route replace 224.0.0.0/4 dev eth1";
  struct way {
    std::string url;
    std::string command;
  };
  for (const way& by :
       {way{v4, routed}, way{v4 + "&interface=eth1", "ip route replace 224.0.0.0/4 dev eth0"},
        way{v4 + "&interface=10.79.0.N", "true"}, way{"udpm://[ff15::76]:7667?ttl=1&interface=eth1", "true"}}) {
    INFO(by.url << ", " << by.command);
    const auto node_at = [&](std::size_t host) {
      (*hosts)[host].sh(by.command);
      std::string url = by.url;
      if (const auto at = url.find('N'); at != std::string::npos) url.replace(at, 1, std::to_string(host + 1));
      return node_on((*hosts)[host], broker.endpoint(), {"ORC_MULTICAST=" + url});
    };
    const auto publisher = node_at(0);
    const auto subscriber = node_at(1);
    publisher->must("register t multicast");
    follow(*subscriber, "t", "multicast");
    publisher->must("stream t 100 100 0");
    CHECK(hears_more(*subscriber, "t", 50));
    CHECK(subscriber->stats("t").missed == 0);
    // The last sample comes by unicast.
    (void)publisher->ask("stop t");
    const auto late = node_at(1);
    follow(*late, "t", "multicast");
    CHECK(wait_until([&] { return late->stats("t").received == 1; }));
  }
}
