// By which interface multicast goes, on hosts whose routes say all kinds of things.
#include <string>
#include <vector>

#include "network/lab.h"
#include "network/streams.h"
#include "network/wire_tap.h"
#include "support/catch.h"
#include "support/wait_until.h"

using namespace orc::test;

namespace {

struct set_up {
  std::string name;
  std::string commands;  // on host 0, whose eth0 is there and which has no route for multicast
};

const std::string second_network = "ip addr add 10.79.0.1/24 dev wlan0; ";
const std::vector<set_up> set_ups = {
    {"multicast routed to lo", "ip link set lo multicast on; ip route add 224.0.0.0/4 dev lo"},
    {"multicast routed to eth0", "ip route add 224.0.0.0/4 dev eth0"},
    {"only a default route", "ip route add default dev eth0"},
    {"no route", "true"},
    {"a route that forbids multicast", "ip route add unreachable 224.0.0.0/4"},
    {"Wi-Fi and Ethernet, Ethernet first",
     second_network + "ip route add default dev eth0 metric 100; ip route add default dev wlan0 metric 600"},
    {"Wi-Fi and Ethernet, Wi-Fi first",
     second_network + "ip route add default dev wlan0 metric 100; ip route add default dev eth0 metric 600"},
    {"Wi-Fi and Ethernet, multicast routed to lo",
     second_network + "ip route add default dev wlan0; ip route add 224.0.0.0/4 dev lo"},
    {"a default route with the address of another interface",
     second_network + "ip route add default dev eth0 src 10.79.0.1"},
    {"a default route with an address of lo",
     "ip addr add 10.80.0.1/32 dev lo; ip route add default dev eth0 src 10.80.0.1"},
    {"no address on lo, a default route", "ip addr flush dev lo; ip route add default dev eth0"},
    {"no address on lo, multicast routed to lo", "ip addr flush dev lo; ip route add 224.0.0.0/4 dev lo"},
    {"docker0 and a default route",
     "ip link add docker0 type bridge; ip addr add 172.17.0.1/16 dev docker0; ip link set docker0 up; "
     "ip route add default dev eth0"},
    {"docker0 and multicast routed to lo",
     "ip link add docker0 type bridge; ip addr add 172.17.0.1/16 dev docker0; ip link set docker0 up; "
     "ip route add 224.0.0.0/4 dev lo"},
    {"IPv6 only", "ip -4 addr flush dev eth0; ip addr add fd00:78::1/64 dev eth0 nodad; ip route add default dev eth0"},
};

std::unique_ptr<test_node> alone_on(const lab_host& host, const std::string& url) {
  return node_on(host, "none", {"ORC_MULTICAST=" + url});
}

// Host 0 has a second cable to host 1, wlan0.
std::unique_ptr<lab> make_lab(std::string& why) {
  auto hosts = lab::make(2, why);
  if (!hosts) return nullptr;
  const auto pid = [&](std::size_t host) { return std::to_string((*hosts)[host].pid()); };
  if (!run_command(
          {"ip", "link", "add", "wlan0", "netns", pid(0), "type", "veth", "peer", "name", "air", "netns", pid(1)}, why))
    return nullptr;
  (*hosts)[0].sh("ip link set wlan0 up; ip route del 224.0.0.0/4");
  (*hosts)[1].sh("ip link set air up");
  return hosts;
}

constexpr const char* stays = "udpm://239.255.76.67:7667?ttl=0";
constexpr const char* leaves = "udpm://239.255.76.67:7667?ttl=1";

}  // namespace

TEST_CASE("3: ttl=0 never leaves the host, and links the programs on it", "[network]") {
  for (const set_up& each : set_ups) {
    INFO(each.name);
    std::string why;
    const auto hosts = make_lab(why);
    if (!hosts) return skip(why);
    const lab_host& host = (*hosts)[0];
    host.sh(each.commands);
    const wire_tap source(host);
    const wire_tap wire((*hosts)[1]);
    const auto stranger = alone_on((*hosts)[1], stays);
    follow(*stranger, "cmd", "multicast", 0);

    // Before anybody listens on the host, and while somebody does.
    const auto sender = alone_on(host, stays);
    start_stream(*sender, "cmd", "multicast", "800 200");
    CHECK(wait_until([&] { return sender->progress("cmd").sent >= 100; }));
    const auto receiver = alone_on(host, stays);
    follow(*receiver, "cmd", "multicast", 0);
    CHECK(hears_more(*receiver, "cmd", 100));
    // Whatever becomes of the routes meanwhile.
    host.sh("ip route replace 224.0.0.0/4 dev eth0");
    CHECK(hears_more(*receiver, "cmd", 100));
    host.sh("ip route replace 224.0.0.0/4 dev lo");
    CHECK(hears_more(*receiver, "cmd", 100));
    CHECK(sender->progress("cmd").failed == 0);
    CHECK(stranger->stats("cmd").received == 0);
    CHECK(source.count().left == 0);
    CHECK(wire.count().came == 0);
  }
}

TEST_CASE("3: ttl=0 by an interface that the URL names stays on the host as well", "[network]") {
  for (const std::string named : {"eth0", "10.78.0.1", "wlan0", "lo"}) {
    INFO(named);
    std::string why;
    const auto hosts = make_lab(why);
    if (!hosts) return skip(why);
    (*hosts)[0].sh(second_network + "ip route add 224.0.0.0/4 dev lo");
    const wire_tap source((*hosts)[0]);
    const auto url = stays + ("&interface=" + named);
    const auto sender = alone_on((*hosts)[0], url);
    start_stream(*sender, "cmd", "multicast", "800 200");
    CHECK(wait_until([&] { return sender->progress("cmd").sent >= 50; }));
    const auto receiver = alone_on((*hosts)[0], url);
    follow(*receiver, "cmd", "multicast", 0);
    CHECK(wait_until([&] { return receiver->stats("cmd").received >= 50; }));
    CHECK(source.count().left == 0);
  }
}

// The broker takes endpoints at the address of the connection only, and other hosts tell by it that they cannot join.
TEST_CASE("3: ttl=0 stays on the publication's host when the broker is on another one", "[network]") {
  for (const std::string route :
       {"224.0.0.0/4 dev lo", "224.0.0.0/4 dev eth0", "default dev eth0", "unreachable 224.0.0.0/4"}) {
    INFO(route);
    std::string why;
    const auto hosts = make_lab(why);
    if (!hosts) return skip(why);
    const lab_broker broker((*hosts)[1]);
    (*hosts)[0].sh("ip route add " + route);
    const auto node_at = [&](std::size_t host) {
      return node_on((*hosts)[host], broker.endpoint(), {std::string("ORC_MULTICAST=") + stays});
    };
    const wire_tap wire((*hosts)[1]);
    const auto sender = node_at(0);
    const auto near = node_at(0);
    const auto far = node_at(1);
    sender->must("register cmd multicast");
    for (test_node* const node : {near.get(), far.get()}) {
      follow(*node, "cmd", "multicast", 0);
    }
    sender->must("stream cmd 800 200");
    CHECK(wait_until([&] { return near->stats("cmd").received >= 50; }));
    CHECK(wait_until([&] { return far->ask("link cmd").find("does not leave its host") != std::string::npos; }));
    CHECK(far->stats("cmd").received == 0);
    CHECK(wire.count().came == 0);
  }
}

TEST_CASE("3: ttl=0 subscribers hear what comes by the multicast route, also one that comes later", "[network]") {
  std::string why;
  const auto hosts = make_lab(why);
  if (!hosts) return skip(why);
  const auto receiver = alone_on((*hosts)[0], stays);
  follow(*receiver, "cmd", "multicast", 0);
  const auto sender = alone_on((*hosts)[1], leaves);
  start_stream(*sender, "cmd", "multicast", "800 200");
  REQUIRE(wait_until([&] { return sender->progress("cmd").sent >= 50; }));
  CHECK(receiver->stats("cmd").received == 0);
  (*hosts)[0].sh("ip route add default dev eth0");
  CHECK(wait_until([&] { return receiver->stats("cmd").received >= 100; }));
}

TEST_CASE("3: ttl=1 goes by the interface of the multicast route, and by no other", "[network]") {
  const std::vector<set_up> routes = {
      {"by eth0", "ip route add 224.0.0.0/4 dev eth0"},
      {"by default", "ip route add default dev eth0"},
      {"by eth0 with the address of wlan0", second_network + "ip route add default dev eth0 src 10.79.0.1"},
      {"by eth0, Wi-Fi is second",
       second_network + "ip route add default dev eth0 metric 100; ip route add default dev wlan0 metric 600"},
  };
  for (const set_up& each : routes) {
    INFO(each.name);
    std::string why;
    const auto hosts = make_lab(why);
    if (!hosts) return skip(why);
    (*hosts)[0].sh(each.commands);
    const auto here = alone_on((*hosts)[0], leaves);
    const auto there = alone_on((*hosts)[1], leaves);
    for (test_node* const node : {here.get(), there.get()}) {
      follow(*node, "cmd", "multicast", 0);
    }
    const wire_tap wire((*hosts)[1]);
    const auto sender = alone_on((*hosts)[0], leaves);
    start_stream(*sender, "cmd", "multicast", "800 200");
    CHECK(wait_until([&] { return there->stats("cmd").received >= 50; }));
    CHECK(wait_until([&] { return here->stats("cmd").received >= 50; }));
    CHECK(wire.count().came >= 50);
  }
}

// The kernel forgets the members of an interface, and a socket keeps its own entry: each program that leaves takes one
// of those that joined again.
TEST_CASE("7: memberships return with an interface of the same index, and one that leaves takes no other's",
          "[network]") {
  struct loss {
    std::string url;
    std::string commands;  // none: the interface is made again
  };
  for (const loss& each : {loss{leaves, ""}, loss{"udpm://[ff15::76:67]:7667?ttl=1&interface=eth0",
                                                  "ip link set eth0 mtu 1200; ip link set eth0 mtu 1500; "
                                                  "ip addr replace fd78::2/64 dev eth0 nodad"}}) {
    INFO(each.url);
    std::string why;
    const auto hosts = lab::make(2, why);
    if (!hosts) return skip(why);
    const auto sender = alone_on((*hosts)[0], each.url);
    start_stream(*sender, "cmd", "multicast");
    std::vector<std::unique_ptr<test_node>> receivers;
    for (int n = 0; n < 3; ++n) {
      receivers.push_back(alone_on((*hosts)[1], each.url));
      follow(*receivers.back(), "cmd", "multicast");
      CHECK(hears_more(*receivers.back(), "cmd", 10));
    }
    if (each.commands.empty())
      hosts->plug_again(1, true);
    else
      (*hosts)[1].sh(each.commands);
    for (; !receivers.empty(); receivers.pop_back()) {
      for (const auto& receiver : receivers) CHECK(hears_more(*receiver, "cmd", 100));
    }
  }
}
