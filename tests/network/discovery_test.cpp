// Brokers that find each other by their beacons.
#include <algorithm>
#include <future>
#include <string>

#include "network/lab.h"
#include "support/catch.h"
#include "support/wait_until.h"

using namespace orc::test;
using namespace std::chrono_literals;

namespace {

std::string hosts_of(const lab_host& host) {
  return host.sh(program("orc") + " host list --broker ipc:///run/user/orc/broker");
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("discovery: brokers of one domain find each other, and not those of another", "[network]") {
  std::string why;
  const auto hosts = lab::make(3, why);
  if (!hosts) return skip(why);
  const auto broker = [&](std::size_t host, const std::string& domain) {
    return lab_broker((*hosts)[host], "tcp://*:5570",
                      {"--discover", "--domain", domain, "--host-name", "host" + std::to_string(host)});
  };
  lab_broker one = broker(0, "lab");
  const lab_broker other = broker(1, "lab");
  const lab_broker apart = broker(2, "apart");
  const auto node = node_on((*hosts)[1], other.endpoint());
  node->must("register pose tcp");
  CHECK(wait_until([&] { return has(topics_of((*hosts)[0], one.endpoint()), "pose"); }));
  CHECK(has(hosts_of((*hosts)[0]), "tcp://10.78.0.2:5570"));
  CHECK(wait_until([&] { return has(hosts_of((*hosts)[1]), "tcp://10.78.0.1:5570"); }));
  // One that is started again is found again.
  one.kill();
  one.start();
  CHECK(wait_until([&] { return has(topics_of((*hosts)[0], one.endpoint()), "pose"); }));

  // Beacons that lie, from the third host: of the brokers' domain, each with a port and an epoch of its own. They go on
  // until the brokers have as many peers as they can have, which takes at least 7 s.
  const auto peers_at_most = [&] {
    const auto listed = hosts_of((*hosts)[0]);
    const auto lines = std::count(listed.begin(), listed.end(), '\n');
    CHECK(lines <= 2 + 64);
    CHECK(has(listed, "tcp://10.78.0.2:5570"));
    return lines;
  };
  (*hosts)[2].sh("touch /run/flood");
  auto flood = std::async(std::launch::async, [&] {
    (*hosts)[2].sh(R"(python3 -c '
import os, socket, struct, time
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
end = time.monotonic() + 120
while os.path.exists("/run/flood") and time.monotonic() < end:
    for n in range(200):
        s.sendto(b"ORCB\x01\x03" + struct.pack("<HQ", 1024 + n, n + 1) + b"lab", ("239.255.55.70", 5570))
        time.sleep(0.002)
')");
  });
  CHECK(wait_until([&] { return peers_at_most() >= 60; }, 60s));
  (*hosts)[2].sh("rm /run/flood");
  flood.get();
  node->must("register later tcp");
  CHECK(wait_until([&] { return has(topics_of((*hosts)[0], one.endpoint()), "later"); }));
  CHECK(wait_until([&] { return !has(hosts_of((*hosts)[0]), "10.78.0.3:"); }));
  CHECK_FALSE(has(topics_of((*hosts)[2], apart.endpoint()), "pose"));
  CHECK_FALSE(has(hosts_of((*hosts)[2]), "10.78.0.1:"));
}

TEST_CASE("discovery: a broker that no other host reaches says so", "[network]") {
  std::string why;
  const auto hosts = lab::make(1, why);
  if (!hosts) return skip(why);
  const auto said =
      (*hosts)[0].sh(program("orc-broker") +
                     " --discover --listen ipc:///run/user/orc/broker --listen tcp://127.0.0.1:5570 2>&1 || "
                     "echo code $?");
  CHECK_THAT(said, contains("--discover: no other host reaches this broker"));
  CHECK_THAT(said, contains("code 1"));
}
