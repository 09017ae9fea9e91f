// Which of this host's addresses others should connect to, and which of theirs it should.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "wire/control.h"

namespace orc::detail {

struct route {
  std::string address;       // of ours that the kernel connects from, as wire::ip_address writes it
  bool leaves_host = false;  // it is not an address of this host itself
};

// The present way to a numeric "tcp://address:port"; nothing for other endpoints, and when there is none. Sends
// nothing.
[[nodiscard]] std::optional<route> route_to(const std::string& numeric_tcp_endpoint);

// The addresses of this host's interfaces that are up and can be connected to now, of both families: at most
// wire::max_tcp_endpoints, best first, the families in turn. Loopback addresses are left out, and link-local ones of
// IPv6, which mean something else on each host. Those of bridges and of interfaces without a carrier are last but for
// link-local ones.
[[nodiscard]] std::vector<std::string> outside_addresses();

// A publication's endpoints in the order in which this host should try them. Of those over tcp, at most
// wire::max_tcp_endpoints, first the one whose address has most bits in common with ours that leads there (RFC 6724,
// rule 9; four bits of IPv6 count as one of IPv4); last our own addresses, those that no route leads to, and link-local
// ones. Of another transport the first one only.
[[nodiscard]] std::vector<wire::endpoint> in_order_of_route(const std::vector<wire::endpoint>& offered);

}  // namespace orc::detail
