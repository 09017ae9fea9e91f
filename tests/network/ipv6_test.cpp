// IPv6, and names that stand for several addresses.
#include <string>

#include "network/lab.h"
#include "network/streams.h"
#include "support/catch.h"
#include "support/wait_until.h"

using namespace orc::test;

namespace {

constexpr const char* local_broker = "ipc:///run/user/orc/broker";

std::unique_ptr<lab> lab_with_v6(std::size_t hosts, std::string& why) {
  auto made = lab::make(hosts, why);
  if (!made || (*made)[0].sh("ip -6 addr show dev eth0").find("fd78::1") != std::string::npos) return made;
  why = "the kernel has no IPv6";
  return nullptr;
}

// One that goes on, at 100 Hz.
bool receives(test_node& node, std::chrono::milliseconds within = patience) { return hears_more(node, "t", 6, within); }

std::string link_of(test_node& node) { return node.ask("link t"); }

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

std::string info_on(const lab_host& host, const std::string& broker) {
  return host.sh(program("orc") + " topic info t --broker " + broker);
}

std::string doctor_on(const lab_host& host, const std::string& arguments) {
  return host.sh(program("orc") + " doctor " + arguments + " || true");
}

}  // namespace

TEST_CASE("10: hosts without IPv4 find the broker and each other", "[network]") {
  std::string why;
  const auto hosts = lab_with_v6(3, why);
  if (!hosts) return skip(why);
  lab& all = *hosts;
  all.drop_v4();
  for (const std::string listen : {"tcp://*:5570", "tcp://[::]:5570", "tcp://[fd78::1]:5570", "tcp://eth0:5570"}) {
    INFO(listen);
    const lab_broker broker(all[0], listen);
    const auto publisher = node_on(all[1], broker.endpoint_v6());
    start_stream(*publisher, "t", "any");
    const auto subscriber = node_on(all[2], broker.endpoint_v6());
    follow(*subscriber, "t", "any");
    INFO(link_of(*subscriber));
    CHECK(receives(*subscriber));
    CHECK(link_of(*subscriber).starts_with("tcp"));
    CHECK(topics_of(all[2], broker.endpoint_v6()) == "t\n");
    CHECK(has(doctor_on(all[2], "--broker " + broker.endpoint_v6()), "[fd78::1]:5570 answers"));
  }
}

TEST_CASE("10: a publisher on the broker's host is reached over IPv6 where IPv4 is cut", "[network]") {
  std::string why;
  const auto hosts = lab_with_v6(2, why);
  if (!hosts) return skip(why);
  lab& all = *hosts;
  const lab_broker broker(all[0]);
  all.cut_between(1, 0, outage::ip);
  all.set_names(1, "10.78.0.1 robot\nfd78::1 robot");
  for (const auto& from : {std::string(local_broker), broker.endpoint(), broker.endpoint_v6()}) {
    INFO(from);
    const auto publisher = node_on(all[0], from);
    start_stream(*publisher, "t", "any");
    const auto subscriber = node_on(all[1], "tcp://robot:5570");
    follow(*subscriber, "t", "any");
    INFO(link_of(*subscriber));
    CHECK(receives(*subscriber));
    CHECK(link_of(*subscriber).starts_with("tcp"));
    CHECK(topics_of(all[1], "tcp://robot:5570") == "t\n");
  }
}

TEST_CASE("10: localhost is each address of this host, for programs and for doctor", "[network]") {
  std::string why;
  const auto hosts = lab_with_v6(1, why);
  if (!hosts) return skip(why);
  lab& all = *hosts;
  for (const std::string names : {"::1 localhost\n127.0.0.1 localhost", "127.0.0.1 localhost\n::1 localhost"}) {
    all.set_names(0, names);
    for (const std::string address : {"127.0.0.1", "[::1]"}) {
      INFO(names << "; a broker at " << address);
      const lab_broker broker(all[0], "tcp://" + address + ":5570");
      const std::string named = "tcp://localhost:5570";
      const auto publisher = node_on(all[0], named);
      start_stream(*publisher, "t", "tcp");
      const auto subscriber = node_on(all[0], named);
      follow(*subscriber, "t", "tcp");
      INFO(link_of(*subscriber));
      CHECK(receives(*subscriber));
      CHECK(topics_of(all[0], named) == "t\n");
      CHECK(has(doctor_on(all[0], "--broker " + named), address + ":5570 answers"));
    }
  }
}

TEST_CASE("10: a name leads to the address that answers, also when that changes", "[network]") {
  std::string why;
  const auto hosts = lab_with_v6(3, why);
  if (!hosts) return skip(why);
  lab& all = *hosts;
  // Nobody answers at the first two.
  all.set_names(1, "fd78::2:1 robot\n10.78.0.77 robot\n10.78.0.1 robot");
  const std::string named = "tcp://robot:5570";
  const lab_broker broker(all[0]);
  const auto node = node_on(all[1], named);
  node->must("register t tcp");
  CHECK(topics_of(all[1], named) == "t\n");

  all.set_names(1, "10.78.0.77 robot");
  auto other = std::make_unique<test_node>(all[1].here(), std::vector<std::string>{});
  other->tell("open " + named + " 30000");
  CHECK(has(doctor_on(all[1], "--broker " + named), "none answers"));
  all.set_names(1, "10.78.0.3 robot");
  const lab_broker second(all[2]);
  CHECK(other->answer() == "ok");

  const auto unknown = doctor_on(all[1], "--broker tcp://nowhere.invalid:5570");
  INFO(unknown);
  CHECK(has(unknown, "tcp://nowhere.invalid:5570 (no such host)"));
}

TEST_CASE("10: a publisher whose IPv6 address changes is found at the new one", "[network]") {
  std::string why;
  const auto hosts = lab_with_v6(3, why);
  if (!hosts) return skip(why);
  lab& all = *hosts;
  const lab_broker broker(all[0]);
  const auto publisher = node_on(all[1], broker.endpoint_v6());
  start_stream(*publisher, "t", "any");
  const auto subscriber = node_on(all[2], broker.endpoint_v6());
  follow(*subscriber, "t", "any");
  REQUIRE(receives(*subscriber));
  std::string before = all[1].address_v6();
  for (const std::string address : {"fd78::42", "fd78::43"}) {
    INFO(address);
    all[1].sh("ip addr del " + before + "/64 dev eth0; ip addr add " + address + "/64 dev eth0 nodad");
    before = address;
    CHECK(receives(*subscriber));
    CHECK(wait_until([&] { return has(info_on(all[2], broker.endpoint_v6()), "tcp://[" + address + "]:"); }));
  }
}

TEST_CASE("10: an address that is not checked yet is not offered, nor is a link-local one", "[network]") {
  std::string why;
  const auto hosts = lab_with_v6(2, why);
  if (!hosts) return skip(why);
  lab& all = *hosts;
  const lab_broker broker(all[0]);
  all[0].sh("echo 100 > /proc/sys/net/ipv6/conf/eth0/dad_transmits; ip addr add fd78::77/64 dev eth0");
  const auto publisher = node_on(all[0], local_broker);
  start_stream(*publisher, "t", "any");
  const auto info = info_on(all[1], broker.endpoint_v6());
  INFO(info);
  CHECK(has(info, "tcp://10.78.0.1:"));
  CHECK(has(info, "tcp://[fd78::1]:"));
  CHECK_FALSE(has(info, "fd78::77"));
  CHECK_FALSE(has(info, "fe80"));
}

TEST_CASE("10: an IPv6 address is advertised alone", "[network]") {
  std::string why;
  const auto hosts = lab_with_v6(2, why);
  if (!hosts) return skip(why);
  lab& all = *hosts;
  const lab_broker broker(all[0]);
  all.set_names(0, "fd78::1 six");
  for (const std::string advertised : {"fd78::1", "six"}) {
    const auto publisher = node_on(all[0], local_broker, {"ORC_ADVERTISE=" + advertised});
    start_stream(*publisher, "t", "any");
    const auto info = info_on(all[1], broker.endpoint());
    INFO(info);
    CHECK(has(info, "tcp://[fd78::1]:"));
    CHECK_FALSE(has(info, "10.78.0.1"));
    const auto subscriber = node_on(all[1], broker.endpoint());
    follow(*subscriber, "t", "any");
    CHECK(receives(*subscriber));
  }
}

TEST_CASE("10: a broker is found at a link-local address, which subscribers are not sent to", "[network]") {
  std::string why;
  const auto hosts = lab_with_v6(2, why);
  if (!hosts) return skip(why);
  lab& all = *hosts;
  const lab_broker broker(all[0]);
  std::string own;
  REQUIRE(wait_until([&] {
    own = all[0].sh("ip -6 -o addr show dev eth0 scope link -tentative | sed 's/.*inet6 //; s,/.*,,' | tr -d '\\n'");
    return !own.empty() && !all[1].sh("ip -6 -o addr show dev eth0 scope link -tentative").empty();
  }));
  const auto publisher = node_on(all[1], "tcp://[" + own + "%eth0]:5570");
  publisher->must("register t any");
  const auto info = info_on(all[0], local_broker);
  INFO(info);
  CHECK(has(info, "endpoint"));
  CHECK_FALSE(has(info, "tcp://"));
}

TEST_CASE("10: doctor examines another host over each of its addresses", "[network]") {
  std::string why;
  const auto hosts = lab_with_v6(2, why);
  if (!hosts) return skip(why);
  lab& all = *hosts;
  auto words = all[1].here();
  for (const std::string& word : {program("orc"), std::string("doctor"), std::string("--answer")})
    words.push_back(word);
  child_process answering(std::move(words));
  REQUIRE(answering.wait_for_output("until Ctrl-C"));
  all.set_names(0, "10.78.0.77 robot\nfd78::2 robot");
  for (const std::string name : {"fd78::2", "[fd78::2]", "robot"}) {
    const auto found = doctor_on(all[0], "--to '" + name + "'");
    INFO(found);
    CHECK(has(found, "lab1 ([fd78::2]:5571) answers"));
    CHECK(has(found, "was reached from there"));
    CHECK(has(found, "[fd78::2]:"));
  }
  CHECK(has(doctor_on(all[0], "--to 10.78.0.2"), "lab1 (10.78.0.2:5571) answers"));
}
