#include "support/own_network.h"

#include <sched.h>

#include <cerrno>
#include <cstring>

#include "support/child_process.h"

namespace orc::test {

bool enter_own_network(std::string& why) {
  if (::unshare(CLONE_NEWNET) != 0) {
    why = std::string("a network namespace needs root: ") + std::strerror(errno);
    return false;
  }
  return run_command({"ip", "link", "set", "lo", "up", "multicast", "on"}, why) &&
         run_command({"ip", "route", "add", "224.0.0.0/4", "dev", "lo"}, why);
}

}  // namespace orc::test
