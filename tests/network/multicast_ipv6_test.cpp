// Multicast over IPv6 groups, between hosts that have no IPv4.
#include <string>
#include <vector>

#include "network/lab.h"
#include "network/streams.h"
#include "network/wire_tap.h"
#include "support/catch.h"
#include "support/doctor.h"
#include "support/wait_until.h"

using namespace orc::test;

namespace {

constexpr const char* leaves = "udpm://[ff15::76:67]:7667?ttl=1&interface=eth0";
constexpr const char* stays = "udpm://[ff15::76:67]:7667?ttl=0";
constexpr const char* route_on_lo = "ip -6 route add local ff00::/8 dev lo";

std::string v6_of(const lab_host& host) { return "fd79::" + std::to_string(host.number() + 1); }

// Hosts 0, 1, … with fd79::1/64, fd79::2/64, … and no IPv4.
std::unique_ptr<lab> make_v6_lab(std::size_t count, std::string& why) {
  auto hosts = lab::make(count, why);
  for (std::size_t i = 0; hosts && i < count; ++i) {
    const lab_host& host = (*hosts)[i];
    host.sh("ip -4 addr flush dev eth0; ip -6 addr replace " + v6_of(host) + "/64 dev eth0 nodad");
  }
  return hosts;
}

std::unique_ptr<test_node> at(const lab_host& host, const std::string& url, const std::string& broker = "none") {
  return node_on(host, broker, {"ORC_MULTICAST=" + url});
}

void listen(test_node& node) { follow(node, "cmd", "multicast", 0); }

void talk(test_node& node) { start_stream(node, "cmd", "multicast", "800 200"); }

bool hears_more(test_node& node) { return hears_more(node, "cmd", 100); }

}  // namespace

TEST_CASE("10: hosts without IPv4 hear each other on an IPv6 group", "[network]") {
  std::string why;
  const auto hosts = make_v6_lab(2, why);
  if (!hosts) return skip(why);
  for (const std::string url :
       {leaves, "udpm://[ff15::76:67]:7667?ttl=1", "udpm://[ff02::76:67]:7667?ttl=1&interface=eth0",
        "udpm://[ff15::76:67]:7667?ttl=1&interface=eth0&fec=20"}) {
    INFO(url);
    const wire_tap wire((*hosts)[1]);
    const auto there = at((*hosts)[1], url);
    const auto here = at((*hosts)[0], url);
    listen(*there);
    listen(*here);
    const auto sender = at((*hosts)[0], url);
    talk(*sender);
    CHECK(hears_more(*there));
    CHECK(hears_more(*here));
    CHECK(sender->progress("cmd").failed == 0);
    CHECK(there->stats("cmd").corrupt == 0);
    CHECK(wire.count().came >= 100);
  }
}

TEST_CASE("10: hosts without IPv4 meet on an IPv6 group through a broker on a third host", "[network]") {
  std::string why;
  const auto hosts = make_v6_lab(3, why);
  if (!hosts) return skip(why);
  const lab_broker broker((*hosts)[2]);
  const std::string endpoint = "tcp://[" + v6_of((*hosts)[2]) + "]:5570";
  const auto sender = at((*hosts)[0], leaves, endpoint);
  const auto there = at((*hosts)[1], leaves, endpoint);
  listen(*there);
  talk(*sender);
  CHECK(hears_more(*there));
  CHECK(there->ask("link cmd").starts_with("multicast"));
}

// The broker takes the addresses of its own host.
TEST_CASE("10: an IPv6 group with a broker on the publisher's host; the publisher's address changes", "[network]") {
  std::string why;
  const auto hosts = make_v6_lab(2, why);
  if (!hosts) return skip(why);
  for (const std::size_t i : {0u, 1u}) (*hosts)[i].sh("ip addr add " + (*hosts)[i].address() + "/24 dev eth0");
  const lab_broker broker((*hosts)[0]);
  const auto sender = at((*hosts)[0], leaves, broker.endpoint());
  const auto there = at((*hosts)[1], leaves, broker.endpoint());
  const auto here = at((*hosts)[0], leaves, broker.endpoint());
  listen(*there);
  talk(*sender);
  listen(*here);
  CHECK(hears_more(*there));
  CHECK(hears_more(*here));
  (void)sender->ask("stop cmd");
  CHECK(wait_until([&] { return there->stats("cmd").last_value == here->stats("cmd").last_value; }));

  sender->must("stream cmd 800 200");
  REQUIRE(hears_more(*there));
  (*hosts)[0].sh("ip -6 addr add fd79::77/64 dev eth0 nodad; ip -6 addr del fd79::1/64 dev eth0");
  const std::string info = program("orc") + " topic info cmd --broker " + broker.endpoint();
  CHECK(wait_until([&] { return (*hosts)[0].sh(info).find("[fd79::77]") != std::string::npos; }));
  CHECK(hears_more(*there));
  CHECK(hears_more(*here));
}

TEST_CASE("10: a ttl=0 publication on an IPv6 group is found by its broker, and not by other hosts", "[network]") {
  std::string why;
  const auto hosts = make_v6_lab(2, why);
  if (!hosts) return skip(why);
  for (const std::size_t i : {0u, 1u}) (*hosts)[i].sh("ip addr add " + (*hosts)[i].address() + "/24 dev eth0");
  (*hosts)[0].sh(route_on_lo);
  (*hosts)[1].sh(route_on_lo);
  const lab_broker broker((*hosts)[0]);
  const wire_tap wire((*hosts)[1]);
  const auto sender = at((*hosts)[0], stays, broker.endpoint());
  const auto near = at((*hosts)[0], stays, broker.endpoint());
  const auto far = at((*hosts)[1], stays, broker.endpoint());
  listen(*near);
  listen(*far);
  talk(*sender);
  CHECK(hears_more(*near));
  CHECK(wait_until([&] { return far->ask("link cmd").find("does not leave its host") != std::string::npos; }));
  CHECK(far->stats("cmd").received == 0);
  CHECK(wire.count().came == 0);
}

TEST_CASE("10: ttl=0 on an IPv6 group never leaves the host", "[network]") {
  const std::vector<std::pair<std::string, std::string>> set_ups = {
      {"IPv6 only", "true"},
      {"a group routed to eth0", "ip -6 route add ff15::/16 dev eth0"},
      {"no address but the link's own", "ip -6 addr del fd79::1/64 dev eth0"},
      {"IPv6 and IPv4", "ip addr add 10.78.0.1/24 dev eth0"},
      {"no eth0", "ip link set eth0 down"},
  };
  for (const auto& [name, commands] : set_ups) {
    std::string why;
    const auto hosts = make_v6_lab(2, why);
    if (!hosts) return skip(why);
    const lab_host& host = (*hosts)[0];
    host.sh(commands);
    const wire_tap source(host);
    const wire_tap wire((*hosts)[1]);
    const auto stranger = at((*hosts)[1], leaves);
    listen(*stranger);
    for (const std::string url : {stays, "udpm://[ff15::76:67]:7667?ttl=0&interface=lo",
                                  "udpm://[ff02::76:67]:7667?ttl=0", "udpm://[ff01::76:67]:7667?ttl=0"}) {
      INFO(name << ", " << url);
      host.sh(route_on_lo);
      const auto sender = at(host, url);
      talk(*sender);
      const auto receiver = at(host, url);
      listen(*receiver);
      CHECK(hears_more(*receiver));
      CHECK(sender->progress("cmd").failed == 0);
      // Memberships and addresses go with an interface's IPv6.
      host.sh("ip link set eth0 mtu 1000; ip link set eth0 mtu 1500");
      CHECK(hears_more(*receiver));
      host.sh("ip -6 route del local ff00::/8 dev lo");
      const auto sent = sender->progress("cmd").sent;
      CHECK(wait_until([&] { return sender->progress("cmd").sent >= sent + 100; }));
      CHECK(stranger->stats("cmd").received == 0);
      CHECK(source.count().left == 0);
      CHECK(wire.count().came == 0);
    }
  }
}

TEST_CASE("10: ttl=0 on an IPv6 group sends nothing without a route on lo, and says which", "[network]") {
  std::string why;
  const auto hosts = make_v6_lab(1, why);
  if (!hosts) return skip(why);
  const lab_host& host = (*hosts)[0];
  const wire_tap source(host);
  for (const std::string commands : {"true", "ip -6 route add ff00::/8 dev lo"}) {  // such a route drops all
    INFO(commands);
    host.sh(commands);
    const auto sender = at(host, stays);
    const std::string answer = sender->ask("register cmd multicast");
    INFO(answer);
    CHECK(answer.find(route_on_lo) != std::string::npos);
  }
  CHECK(source.count().left == 0);
}

TEST_CASE("10: without IPv4 the default group works over lo", "[network]") {
  std::string why;
  const auto hosts = make_v6_lab(1, why);
  if (!hosts) return skip(why);
  const lab_host& host = (*hosts)[0];
  const wire_tap source(host);
  const auto sender = node_on(host, "none");
  const auto receiver = node_on(host, "none");
  listen(*receiver);
  talk(*sender);
  CHECK(hears_more(*receiver));
  CHECK(source.count().left == 0);
}

TEST_CASE("10: doctor checks an IPv6 group", "[network]") {
  std::string why;
  const auto hosts = make_v6_lab(1, why);
  if (!hosts) return skip(why);
  const auto examine = [&](const std::string& url) {
    auto words = (*hosts)[0].here();
    for (const std::string& word : {program("orc"), std::string("doctor"), std::string("--multicast"), url})
      words.push_back(word);
    child_process doctor(std::move(words));
    tool::outcome done;
    done.out = doctor.read_all();
    done.exit_code = exit_code_of(doctor);
    return read_diagnosis(done);
  };
  auto found = examine(leaves);
  CHECK(found["multicast route"].level == "note");
  CHECK(found["multicast interface"].level == "ok");
  CHECK(found["multicast eth0"].level == "ok");
  CHECK(found["multicast port"].level == "ok");
  found = examine(stays);
  CHECK(found["multicast transport"].level == "FAIL");
  REQUIRE(found["multicast transport"].fixes.size() == 1);
  (*hosts)[0].sh(route_on_lo);
  found = examine(stays);
  CHECK(found["multicast transport"].level == "ok");
  CHECK(found["multicast lo"].level == "ok");
}

TEST_CASE("10: doctor checks an IPv6 group between two hosts", "[network]") {
  std::string why;
  const auto hosts = make_v6_lab(2, why);
  if (!hosts) return skip(why);
  for (const std::size_t i : {0u, 1u}) (*hosts)[i].sh("ip addr add " + (*hosts)[i].address() + "/24 dev eth0");
  const auto run_doctor = [&](std::size_t host, std::vector<std::string> arguments) {
    auto words = (*hosts)[host].here();
    for (const std::string& word :
         {program("orc"), std::string("doctor"), std::string("--multicast"), std::string(leaves)})
      words.push_back(word);
    words.insert(words.end(), arguments.begin(), arguments.end());
    return child_process(std::move(words));
  };
  auto answering = run_doctor(1, {"--answer"});
  REQUIRE(answering.wait_for_output("until Ctrl-C"));
  const auto examine = [&] {
    auto doctor = run_doctor(0, {"--to", (*hosts)[1].address()});
    tool::outcome done;
    done.out = doctor.read_all();
    done.exit_code = exit_code_of(doctor);
    return read_diagnosis(done);
  };
  auto found = examine();
  CHECK(found["multicast there"].level == "ok");
  CHECK(found["multicast there"].found.find("from fd79::1") != std::string::npos);
  CHECK(found["multicast here"].level == "ok");
  (*hosts)[1].sh("nft 'table inet lab { chain in { type filter hook input priority 0; udp dport 7667 drop; }; }'");
  found = examine();
  CHECK(found["multicast there"].level == "FAIL");
  CHECK(found["multicast here"].level == "ok");
}
