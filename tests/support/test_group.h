// A multicast group for one test process: on the loopback interface, with a port that no other test has. Needs neither
// privileges nor a route.
#pragma once

#include <unistd.h>

#include <string>
#include <utility>

#include "orc/options.h"

namespace orc::test {

[[nodiscard]] inline std::string test_group() {
  return "udpm://239.255.76.99:" + std::to_string(20000 + ::getpid() % 40000) + "?ttl=0&interface=lo";
}

// A participant that has no broker.
[[nodiscard]] inline participant_options alone(std::string url = test_group()) {
  participant_options options;
  options.broker = "none";
  options.multicast = std::move(url);
  return options;
}

}  // namespace orc::test
