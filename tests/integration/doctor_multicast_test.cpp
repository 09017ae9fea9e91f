// What `orc doctor` says of multicast, on hosts that lack it: network namespaces.
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support/doctor.h"
#include "support/net_namespace.h"

using namespace orc;
using namespace orc::test;

namespace {

[[nodiscard]] std::string words(const std::vector<std::string>& list) {
  std::string text;
  for (const std::string& word : list) text += word + " ";
  return text;
}

// A host of two whose multicast has no route, and the doctor who looks at it. False where the machine does not allow
// it.
class bare_host {
 public:
  bare_host() : hosts_(two_hosts::make(why_not_)) {
    if (!hosts_) return;
    REQUIRE(hosts_->remove_multicast_route(two_hosts::host::a, why_not_));
    there_ = "ORC_BROKER=none " + words(hosts_->on(two_hosts::host::a));
  }
  explicit operator bool() const { return hosts_ != nullptr; }
  [[nodiscard]] const std::string& why_not() const { return why_not_; }
  [[nodiscard]] const patient& robot() const { return robot_; }
  // What to put in front of a command line to run it there.
  [[nodiscard]] const std::string& there() const { return there_; }
  // The interface to the other host, which is called as the namespace.
  [[nodiscard]] std::string network() const { return hosts_->on(two_hosts::host::a).back(); }

 private:
  std::string why_not_;
  std::unique_ptr<two_hosts> hosts_;
  const broker_process broker_{broker_process::at::nowhere};
  const patient robot_{broker_};
  std::string there_;
};

constexpr const char* group = "239.255.76.67";
[[nodiscard]] std::string url(int port, const std::string& parameters = "?ttl=0") {
  return std::string("udpm://") + group + ":" + std::to_string(port) + parameters;
}

[[nodiscard]] sockaddr_in local(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  return address;
}

class udp_listener {
 public:
  explicit udp_listener(bool shares_port) : fd_(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) {
    const int on = shares_port ? 1 : 0;
    sockaddr_in address = local(0);
    socklen_t size = sizeof address;
    ip_mreqn join{};
    join.imr_multiaddr.s_addr = htonl(0xefff4c43);
    join.imr_ifindex = 1;  // lo, in every namespace
    REQUIRE(::setsockopt(fd_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) == 0);
    REQUIRE(::bind(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
    REQUIRE(::setsockopt(fd_, IPPROTO_IP, IP_ADD_MEMBERSHIP, &join, sizeof join) == 0);
    REQUIRE(::getsockname(fd_, reinterpret_cast<sockaddr*>(&address), &size) == 0);
    port_ = ntohs(address.sin_port);
  }
  ~udp_listener() { ::close(fd_); }
  udp_listener(const udp_listener&) = delete;
  udp_listener& operator=(const udp_listener&) = delete;

  [[nodiscard]] int port() const { return port_; }
  [[nodiscard]] bool heard_something() const {
    char byte = 0;
    return ::recv(fd_, &byte, 1, 0) >= 0;
  }

 private:
  int fd_;
  int port_ = 0;
};

}  // namespace

TEST_CASE("orc doctor: a receive buffer beyond the kernel's limit") {
  const broker_process broker(broker_process::at::nowhere);
  const patient robot(broker);
  const std::string wish = "--multicast '" + url(7667, "?recv_buf_size=2000000000") + "'";
  const auto found = robot.examine(wish, "ORC_BROKER=none setpriv --bounding-set -net_admin");
  if (found.checks.empty()) return skip("setpriv may not take a capability away here");
  INFO(found.out);
  CHECK(found.exit_code == 1);
  CHECK(found["receive buffer"].level == "FAIL");
  REQUIRE(found["receive buffer"].fixes.size() == 2);
  CHECK_THAT(found["receive buffer"].fixes[0], contains("sysctl -w net.core.rmem_max=2000000000"));
  CHECK_THAT(found["receive buffer"].fixes[1], contains("/etc/sysctl.d/"));
}

TEST_CASE("orc doctor: a host without a multicast route, and the command that makes one") {
  const bare_host host;
  if (!host) return skip(host.why_not());
  const patient& robot = host.robot();
  const std::string& there = host.there();
  const std::string stays = "--multicast '" + url(7667) + "'";

  const auto before = robot.examine(stays, there);
  INFO(before.out);
  // What stays on the host needs no route, but LCM's programs do.
  CHECK(before.exit_code == 0);
  CHECK(before["multicast transport"].level == "ok");
  CHECK_THAT(before["multicast transport"].found, contains(" by lo"));
  CHECK(before["multicast route"].level == "note");
  CHECK_THAT(fix_of(before, "multicast route"), contains("ip route add 224.0.0.0/4 dev lo"));
  CHECK(before["multicast lo"].level == "ok");  // by name it needs no route

  // A program that names its interface works without; LCM's do not.
  const auto named = robot.examine("--multicast '" + url(7667, "?interface=lo") + "'", there);
  INFO(named.out);
  CHECK(named.exit_code == 0);
  CHECK(named["multicast route"].level == "note");
  CHECK(named["multicast interface"].level == "ok");

  REQUIRE(robot.mend(before, "multicast route", there));
  const auto after = robot.examine(stays, there);
  INFO(after.out);
  CHECK(after.exit_code == 0);
  CHECK(after["multicast route"].level == "ok");
  CHECK_THAT(after["multicast route"].found, contains(" by lo"));
}

TEST_CASE("orc doctor: what is to leave the host gets a route over the network") {
  const bare_host host;
  if (!host) return skip(host.why_not());
  const patient& robot = host.robot();
  const std::string& there = host.there();
  const std::string leaves = "--multicast '" + url(7667, "?ttl=1") + "'";
  const auto before = robot.examine(leaves, there);
  INFO(before.out);
  const std::string network = host.network();
  CHECK_THAT(fix_of(before, "multicast route"), contains("dev " + network));
  CHECK(before["multicast transport"].level == "FAIL");
  CHECK(fix_of(before, "multicast transport") == fix_of(before, "multicast route"));
  CHECK(before["multicast " + network].level == "ok");
  REQUIRE(robot.mend(before, "multicast route", there));
  CHECK_THAT(robot.examine(leaves, there)["multicast route"].found, contains(" by " + network));

  // A route that keeps on the host what is to leave it, such as the one for ttl=0.
  REQUIRE(robot.orc().run(there + " ip route replace 224.0.0.0/4 dev lo").exit_code == 0);
  const auto kept = robot.examine(leaves, there);
  INFO(kept.out);
  CHECK(kept["multicast route"].level == "FAIL");
  REQUIRE(robot.mend(kept, "multicast route", there));
  CHECK(robot.examine(leaves, there)["multicast route"].level == "ok");
}

TEST_CASE("orc doctor: an interface that is down, and one that is not there") {
  const bare_host host;
  if (!host) return skip(host.why_not());
  const patient& robot = host.robot();
  const std::string& there = host.there();
  REQUIRE(robot.orc().run(there + " ip link set lo down").exit_code == 0);
  const std::string stays = "--multicast '" + url(7667) + "'";
  const auto down = robot.examine(stays, there);
  INFO(down.out);
  CHECK(down["multicast lo"].level == "note");
  CHECK(down["multicast transport"].level == "FAIL");
  REQUIRE(robot.mend(down, "multicast transport", there));
  CHECK(robot.examine(stays, there)["multicast transport"].level == "ok");
  REQUIRE(robot.mend(down, "multicast route", there));
  const auto up = robot.examine(stays, there);
  INFO(up.out);
  CHECK(up["multicast route"].level == "ok");
  CHECK(up["multicast lo"].level == "ok");

  const auto missing = robot.examine("--multicast '" + url(7667, "?interface=none0") + "'", there);
  INFO(missing.out);
  CHECK(missing.exit_code == 1);
  CHECK(missing["multicast interface"].level == "FAIL");
  CHECK_THAT(missing["multicast interface"].found, contains("none0"));
}

TEST_CASE("orc doctor: a port that a program has for itself, and one that is shared") {
  const broker_process broker(broker_process::at::nowhere);
  const patient robot(broker);
  const udp_listener alone(false);
  const auto taken = robot.examine("--multicast " + url(alone.port(), ""), "ORC_BROKER=none");
  INFO(taken.out);
  CHECK(taken["multicast port"].level == "FAIL");
  CHECK_THAT(fix_of(taken, "multicast port"), contains("sport = :" + std::to_string(alone.port())));

  const udp_listener sharing(true);
  const auto shared = robot.examine("--multicast " + url(sharing.port(), ""), "ORC_BROKER=none");
  INFO(shared.out);
  CHECK(shared["multicast port"].level == "ok");
  CHECK(shared["multicast lo"].level == "ok");
  CHECK_FALSE(sharing.heard_something());
}

TEST_CASE("orc doctor: a bad URL in the environment is a finding, on the command line it is usage") {
  const broker_process broker(broker_process::at::nowhere);
  const patient robot(broker);
  const auto found = robot.examine("", "ORC_BROKER=none ORC_MULTICAST=udpm://10.0.0.1:7667");
  INFO(found.out);
  CHECK(found.exit_code == 1);
  CHECK(found["multicast URL"].level == "FAIL");
  CHECK(found["multicast URL"].fixes == std::vector<std::string>{"unset ORC_MULTICAST"});
  const auto usage = robot.orc().run("$orc doctor --multicast udpm://10.0.0.1:7667");
  CHECK(usage.exit_code == 2);
  CHECK(usage.out.empty());
}
