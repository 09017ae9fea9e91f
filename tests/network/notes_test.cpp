// What a subscriber reports while a registered publisher on another host cannot be reached.
#include <string>

#include "network/lab.h"
#include "support/catch.h"
#include "support/wait_until.h"

using namespace orc::test;

namespace {

constexpr const char* network = "ORC_MULTICAST=udpm://239.255.76.67:7667?ttl=1";

// A broker and a publisher on host 0, a subscriber on host 1.
class pair_of_hosts {
 public:
  pair_of_hosts(lab& hosts, const std::string& transports, const std::string& broken)
      : hosts_(hosts), transports_(transports), broker_(hosts[0]) {
    publisher_ = node_on(hosts[0], broker_.endpoint(), {network});
    publisher_->must("register pose " + transports);
    hosts[0].sh(broken);
    subscriber_ = node_on(hosts[1], broker_.endpoint(), {network});
  }

  std::string request(int within_ms) {
    return subscriber_->ask("request pose " + transports_ + " 1 0 " + std::to_string(within_ms));
  }
  [[nodiscard]] bool reports(const std::string& text) {
    return wait_until([&] { return reason().find(text) != std::string::npos; });
  }
  std::string reason() { return subscriber_->ask("link pose"); }
  [[nodiscard]] bool is_linked() { return !reason().starts_with("none"); }
  // What everybody may read.
  std::string told_to_all() { return hosts_[0].sh(program("orc") + " topic info pose --broker " + broker_.endpoint()); }

 private:
  lab& hosts_;
  std::string transports_;
  lab_broker broker_;
  std::unique_ptr<test_node> publisher_;
  std::unique_ptr<test_node> subscriber_;
};

std::string let_in(const std::string& rule) {
  return "nft flush ruleset; nft 'table inet lab { chain in { type filter hook input priority 0; " + rule + " }; }'";
}

constexpr const char* data_ports = "iifname eth0 tcp dport != 5570 ct state new ";

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// The broker's row of the subscriber, once it has told something.
std::string link_row(pair_of_hosts& on) {
  std::string row;
  CHECK(wait_until([&] {
    const std::string all = on.told_to_all();
    const auto at = all.find("  link ");
    row = at == std::string::npos ? "" : all.substr(at, all.find('\n', at) - at);
    return has(row, "tcp: ");
  }));
  return row;
}

}  // namespace

TEST_CASE("6: a data port that a firewall drops is named with address and likely cause", "[network]") {
  std::string why;
  const auto hosts = lab::make(2, why);
  if (!hosts) return skip(why);
  pair_of_hosts robot(*hosts, "tcp", let_in(std::string(data_ports) + "drop;"));
  const std::string timed_out = robot.request(1500);
  INFO(timed_out);
  CHECK(has(timed_out, "tcp 10.78.0.1:"));
  CHECK(has(timed_out, "no answer for 1."));
  CHECK(has(timed_out, "firewall, or the host is down?"));
  CHECK(robot.reports("no answer for 2."));  // the present, not when it was first noticed
  const std::string row = link_row(robot);
  INFO(row);
  CHECK(has(row, "tcp: not reachable"));
  CHECK_FALSE(has(row, "10.78.0.1"));
  CHECK_FALSE(has(row, "answer"));
  (*hosts)[0].sh(let_in(""));
  CHECK(wait_until([&] { return robot.is_linked(); }));
  CHECK(has(robot.reason(), "the publication answered"));
}

TEST_CASE("6: a data port that a firewall rejects is told as refused, and to others as one that it drops",
          "[network]") {
  std::string why;
  const auto hosts = lab::make(2, why);
  if (!hosts) return skip(why);
  pair_of_hosts robot(*hosts, "tcp", let_in(std::string(data_ports) + "reject with tcp reset;"));
  (void)robot.request(0);
  CHECK(robot.reports("tcp 10.78.0.1:"));
  CHECK(robot.reports("connection refused: no program listens there, or a firewall rejects it"));
  const std::string row = link_row(robot);
  INFO(row);
  CHECK(has(row, "tcp: not reachable"));
  CHECK_FALSE(has(row, "refused"));
  (*hosts)[0].sh(let_in(std::string(data_ports) + "drop;"));
  CHECK(robot.reports("no answer for 2."));
  CHECK(link_row(robot) == row);
}

TEST_CASE("6: a publisher that no route leads to is told as such", "[network]") {
  std::string why;
  const auto hosts = lab::make(2, why);
  if (!hosts) return skip(why);
  // Of the broker's host each address is offered; this one leads nowhere.
  pair_of_hosts robot(*hosts, "tcp", let_in(std::string(data_ports) + "drop;") + "; ip addr add 192.0.2.7/32 dev eth0");
  (void)robot.request(0);
  INFO(robot.reason());
  CHECK(robot.reports("tcp 192.0.2.7:"));
  CHECK(robot.reports("no route (Network is unreachable)"));
  CHECK(robot.reports("tcp 10.78.0.1:"));
  CHECK(has(link_row(robot), "tcp: not reachable"));
}

TEST_CASE("6: multicast that does not come through is named with its group", "[network]") {
  std::string why;
  const auto hosts = lab::make(2, why);
  if (!hosts) return skip(why);
  (*hosts)[1].sh(let_in("udp dport 7667 drop;"));
  pair_of_hosts robot(*hosts, "multicast", "true");
  (void)robot.request(0);
  CHECK(robot.reports("multicast 239.255.76.67:7667: no sample or announcement heard for 1."));
  CHECK(has(robot.reason(), "a switch that keeps multicast from this host?"));
  (*hosts)[1].sh(let_in(""));
  CHECK(wait_until([&] { return robot.is_linked(); }));
}
