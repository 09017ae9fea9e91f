// Memory may run out at any call: the broker and the participants refuse what they have no memory for, and go on.
// tests/oom/failing_new.cpp makes every n-th allocation of the code under test fail.
#include <sstream>
#include <string>
#include <vector>

#include "base/files/temporary_directory.h"
#include "orc.h"
#include "support/broker_process.h"
#include "support/catch.h"
#include "support/raw_client.h"
#include "support/wait_until.h"

using namespace orc::test;

namespace {

std::vector<std::string> failing(unsigned every, unsigned skip, const std::string& module) {
  return {"LD_PRELOAD=" + program("liborc_test_failing_new.so"),
          "ORC_FAIL_NEW=" + std::to_string(every) + ' ' + std::to_string(skip) + ' ' + module};
}

// Joins, registers, requests and leaves; whether it succeeds does not matter.
void visit(const std::string& endpoint, int number) {
  orc::participant guest({.broker = endpoint, .name = "guest", .broker_timeout = std::chrono::milliseconds(200)});
  (void)guest.register_topic("guest/" + std::to_string(number));
  (void)guest.request_topic("guest/" + std::to_string(number + 1));
}

struct outcome {
  unsigned long sent = 0;
  unsigned long received = 0;
  unsigned long refused = 0;
  unsigned long joined = 0;
};

outcome starve(const std::string& broker, const std::string& transport, unsigned every) {
  const std::string seconds = long_run() ? "30" : "2";
  child_process node({program("orc_test_starved_node"), broker, transport, seconds},
                     failing(every, 500, "liborc-middleware.so"));
  const std::string said = node.read_all(patience * 2);
  INFO(transport << ", every " << every << "th: " << said);
  CHECK(node.wait() == 0);
  outcome counted;
  std::istringstream(said) >> counted.sent >> counted.received >> counted.refused >> counted.joined;
  CHECK(counted.sent > 0);
  return counted;
}

}  // namespace

TEST_CASE("out of memory: the broker refuses what it has no memory for, and goes on", "[fault][threads]") {
  if (under_sanitizer) return skip("the sanitizer has an operator new of its own");
  for (const unsigned every : {3u, 17u, 101u}) {
    const orc::detail::temporary_directory directory;
    const std::string endpoint = "ipc://" + directory.file("broker");
    child_process broker({program("orc-broker"), "--listen", endpoint, "--log-level", "error"},
                         failing(every, 3000, "orc-broker"));  // the first ones are those of its start
    REQUIRE(wait_until([&] { return accepts_connections(endpoint); }));
    for (int n = 0; n < 40; ++n) visit(endpoint, n % 7);
    INFO("every " << every << "th allocation fails");
    REQUIRE(broker.running());
    // What is repeated succeeds in the end.
    orc::participant late({.broker = endpoint, .name = "late", .broker_timeout = patience});
    if (every > 100) CHECK(wait_until([&] { return static_cast<bool>(late.register_topic("late").result()); }));
    CHECK(broker.running());
  }
}

TEST_CASE("out of memory: participants refuse what they have no memory for, and go on", "[fault][threads]") {
  if (under_sanitizer) return skip("the sanitizer has an operator new of its own");
  broker_process broker;
  unsigned long seldom_refused = 0;  // a loaded machine sees few refusals when few allocations fail
  for (const char* transport : {"inproc", "ipc", "tcp", "shm", "inproc,shm"}) {
    INFO(transport);
    const auto often = starve(broker.endpoint(), transport, 11);
    CHECK(often.refused > 0);
    const auto seldom = starve(broker.endpoint(), transport, 97);
    seldom_refused += seldom.refused;
    // a link that needs many allocations may not come up while each 11th fails
    CHECK(seldom.received > 0);
  }
  CHECK(seldom_refused > 0);
}
