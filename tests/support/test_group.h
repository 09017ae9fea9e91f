// A multicast group for one test process: on the loopback interface, with a port that no other test has. Needs neither
// privileges nor a route.
#pragma once

#include <unistd.h>

#include <string>

namespace orc::test {

[[nodiscard]] inline std::string test_group() {
  return "udpm://239.255.76.99:" + std::to_string(20000 + ::getpid() % 40000) + "?ttl=0&interface=lo";
}

}  // namespace orc::test
