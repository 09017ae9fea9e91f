// topic_options::priority: what the sockets of a topic ask of the network.
#include "transport/traffic_class.h"

#include <netinet/in.h>
#include <sys/socket.h>

#include "base/files/unique_fd.h"
#include "support/catch.h"

using orc::priority;
using orc::detail::set_traffic_class;
using orc::detail::unique_fd;

namespace {

int option(const unique_fd& of, int level, int name) {
  int value = -1;
  socklen_t size = sizeof value;
  ::getsockopt(of.get(), level, name, &value, &size);
  return value;
}

}  // namespace

TEST_CASE("8: a topic's priority is its sockets' queue and DSCP", "[unit]") {
  for (const int family : {AF_INET, AF_INET6}) {
    for (const int type : {SOCK_STREAM, SOCK_DGRAM}) {
      const unique_fd fd(::socket(family, type | SOCK_CLOEXEC, 0));
      if (!fd) continue;  // no IPv6 here
      const auto check = [&](priority p, int queue, int dscp) {
        set_traffic_class(fd.get(), p);
        CHECK(option(fd, SOL_SOCKET, SO_PRIORITY) == queue);
        CHECK(option(fd, IPPROTO_IP, IP_TOS) >> 2 == dscp);
        if (family == AF_INET6) CHECK(option(fd, IPPROTO_IPV6, IPV6_TCLASS) >> 2 == dscp);
      };
      check(priority::normal, 0, 0);
      check(priority::bulk, 2, 1);      // LE
      check(priority::control, 6, 32);  // CS4
    }
  }
}
