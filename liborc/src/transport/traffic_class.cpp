#include "transport/traffic_class.h"

#include <netinet/in.h>
#include <netinet/ip.h>
#include <sys/socket.h>

namespace orc::detail {

namespace {

struct traffic_class {
  int queue;  // SO_PRIORITY; above 6 it needs CAP_NET_ADMIN
  int field;  // of the IP header: the DSCP, and two bits for ECN
};

// LE and not CS1 for bulk: networks that look at the old IP precedence prefer CS1 to normal traffic (RFC 8622, section
// 1). CS4 and not EF for control: EF is for senders that the network has admitted (RFC 4594, section 4.1).
[[nodiscard]] traffic_class of(priority p) noexcept {
  if (p == priority::bulk) return {2, 1 << 2};
  if (p == priority::control) return {6, 32 << 2};
  return {0, 0};
}

}  // namespace

void set_traffic_class(int fd, priority p) noexcept {
  if (p == priority::normal) return;
  const traffic_class wanted = of(p);
  // An IPv6 socket accepts both, because it may carry IPv4. An IPv4 socket refuses the second.
  (void)::setsockopt(fd, IPPROTO_IP, IP_TOS, &wanted.field, sizeof wanted.field);
  (void)::setsockopt(fd, IPPROTO_IPV6, IPV6_TCLASS, &wanted.field, sizeof wanted.field);
  // Must be last, because Linux derives another queue from IP_TOS.
  (void)::setsockopt(fd, SOL_SOCKET, SO_PRIORITY, &wanted.queue, sizeof wanted.queue);
}

}  // namespace orc::detail
