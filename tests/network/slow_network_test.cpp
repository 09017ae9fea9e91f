// Round trips of most of a second and more: tools, programs and brokers work, or say why not.
#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "support/catch.h"
#include "support/child_process.h"
#include "support/net_namespace.h"
#include "support/test_node.h"
#include "support/wait_until.h"

using namespace orc::test;
using host = two_hosts::host;

namespace {

std::string run(const two_hosts& hosts, host where, const std::vector<std::string>& command) {
  auto words = hosts.on(where);
  words.insert(words.end(), command.begin(), command.end());
  child_process child(std::move(words));
  child.close_input();
  std::string output = child.read_all();
  (void)child.wait();
  return output;
}

// With process ids of its own, as on another machine.
std::unique_ptr<test_node> node_at(const two_hosts& hosts, host where, const std::string& broker) {
  auto words = hosts.on(where);
  words.insert(words.end(), {"unshare", "--pid", "--fork", "--mount-proc", "--kill-child=KILL", "--"});
  auto node = std::make_unique<test_node>(std::move(words));
  node->must("open " + broker + " 2000");
  return node;
}

}  // namespace

TEST_CASE("13: tools and programs work over a round trip of 0.65 s to the broker, and of 1.8 s", "[network]") {
  std::string why;
  const auto hosts = two_hosts::make(why, two_hosts::cable::bad_link);
  if (!hosts) return skip(why);
  const std::string address = "tcp://" + hosts->address(host::a) + ":";
  const std::string endpoint = address + "5570";
  auto words = hosts->on(host::a);
  words.insert(words.end(), {program("orc-broker"), "--listen", endpoint});
  child_process broker(std::move(words));
  REQUIRE(broker.wait_for_output("5570"));
  const auto near = node_at(*hosts, host::a, endpoint);
  near->must("register pose tcp");
  for (const int round_trip_ms : long_run() ? std::vector<int>{650, 1800} : std::vector<int>{650}) {
    INFO(round_trip_ms << " ms");
    hosts->link().set({.delay = std::chrono::milliseconds(round_trip_ms / 2)});
    const std::string name = "far" + std::to_string(round_trip_ms);
    const auto far = node_at(*hosts, host::b, endpoint);
    far->tell("register " + name + " tcp");
    CHECK_THAT(run(*hosts, host::b, {program("orc"), "topic", "list", "--broker", endpoint}), contains("pose"));
    CHECK(far->answer() == "ok");
    // A live holder whose answer takes long keeps its name.
    CHECK_THAT(near->ask("register " + name + " tcp"), contains("published by"));
  }

  // Another program listens there.
  hosts->link().set({.delay = std::chrono::milliseconds(325)});
  auto listener = hosts->on(host::a);
  listener.insert(listener.end(), {"python3", "-c",
                                   "import socket, time; s = socket.create_server(('', 5571)); print('5571', "
                                   "flush=True); time.sleep(60)"});
  child_process other(std::move(listener));
  REQUIRE(other.wait_for_output("5571"));
  CHECK_THAT(run(*hosts, host::b, {program("orc"), "topic", "list", "--broker", address + "5571"}),
             contains("a round trip takes 6"));
}
