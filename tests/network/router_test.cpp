// Hosts of different networks: a router between them, and one that translates addresses (NAT).
#include <string>

#include "network/lab.h"
#include "network/streams.h"
#include "support/catch.h"
#include "support/wait_until.h"

using namespace orc::test;

namespace {

constexpr const char* outside_address = "10.78.0.3";

// Host 0 is outside; host 2 routes between 10.78.0.0/24 and 10.79.0.0/24, where host 1 is 10.79.0.2. One cable carries
// both networks, so the router must not tell hosts of the short cut.
class two_networks {
 public:
  two_networks() : hosts_(lab::make(3, why)) {
    if (!hosts_) return;
    for (const std::size_t i : {0u, 1u, 2u}) (*hosts_)[i].sh("ip -6 addr flush dev eth0");
    router().sh(
        "sysctl -qw net.ipv4.conf.all.send_redirects=0 net.ipv4.conf.eth0.send_redirects=0 net.ipv4.ip_forward=1; "
        "ip addr add 10.79.0.1/24 dev eth0");
    inside().sh("ip -4 addr flush dev eth0; ip addr add 10.79.0.2/24 dev eth0; ip route add default via 10.79.0.1");
  }

  explicit operator bool() const { return hosts_ != nullptr; }
  [[nodiscard]] lab_host& outside() { return (*hosts_)[0]; }
  [[nodiscard]] lab_host& inside() { return (*hosts_)[1]; }
  [[nodiscard]] lab_host& router() { return (*hosts_)[2]; }

  std::string why;

 private:
  std::unique_ptr<lab> hosts_;
};

void hears(test_node& subscriber) {
  follow(subscriber, "t", "any");
  CHECK(hears_more(subscriber, "t", 21));
}

}  // namespace

TEST_CASE("lab: samples pass a router, whichever network the publisher is in", "[network]") {
  two_networks lab;
  if (!lab) return skip(lab.why);
  lab.outside().sh("ip route add 10.79.0.0/24 via " + std::string(outside_address));
  const lab_broker broker(lab.outside());
  for (const bool outwards : {true, false}) {
    INFO((outwards ? "publisher inside" : "publisher outside"));
    const auto publisher = node_on(outwards ? lab.inside() : lab.outside(), broker.endpoint());
    const auto subscriber = node_on(outwards ? lab.outside() : lab.inside(), broker.endpoint());
    start_stream(*publisher, "t", "tcp");
    hears(*subscriber);
  }
}

TEST_CASE("lab: a publisher behind NAT offers the router's address and a port that the router forwards", "[network]") {
  two_networks lab;
  if (!lab) return skip(lab.why);
  lab.router().sh(
      "nft 'table ip nat { chain pre { type nat hook prerouting priority dstnat; "
      "ip daddr 10.78.0.3 tcp dport 40000 dnat to 10.79.0.2; }; "
      "chain post { type nat hook postrouting priority srcnat; ip saddr 10.79.0.0/24 masquerade; }; }'");
  const lab_broker broker(lab.outside());
  {
    const auto publisher = node_on(lab.outside(), broker.endpoint());
    const auto subscriber = node_on(lab.inside(), broker.endpoint());
    start_stream(*publisher, "t", "tcp");
    hears(*subscriber);  // out through the router: needs nothing
  }
  // Its own address means nothing outside, and the broker sees that it is not where it says.
  const auto lost = node_on(lab.inside(), broker.endpoint());
  const auto refused = lost->ask("register t tcp");
  INFO(refused);
  CHECK(refused.starts_with("error"));
  CHECK(refused.find("10.78.0.3 may name that address only") != std::string::npos);
  const auto publisher =
      node_on(lab.inside(), broker.endpoint(), {"ORC_ADVERTISE=" + std::string(outside_address), "ORC_PORTS=40000"});
  const auto subscriber = node_on(lab.outside(), broker.endpoint());
  start_stream(*publisher, "t", "tcp");
  hears(*subscriber);
}
