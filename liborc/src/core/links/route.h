// Chooses which of this host's addresses others should connect to, and in which order this host tries theirs.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "wire/control.h"

namespace orc::detail {

struct route {
  std::string address;       // ours, from which the kernel connects, as ip_address writes it
  bool leaves_host = false;  // the other address is not of this host
};

// Returns the current route to a numeric "tcp://address:port"; nothing for other endpoints, and when there is no route.
// Sends nothing.
[[nodiscard]] std::optional<route> route_to(const std::string& numeric_tcp_endpoint);

// Returns the addresses of this host's interfaces that are up and usable now, of both families: at most
// wire::max_tcp_endpoints, best first, the families in turn. Leaves out loopback addresses, and link-local ones of
// IPv6, which mean something else on each host. Addresses of bridges and of interfaces without a carrier come late,
// link-local ones of IPv4 last.
[[nodiscard]] std::vector<std::string> outside_addresses();

// Returns a publication's endpoints in the order in which this host should try them. Of tcp it takes at most
// wire::max_tcp_endpoints: first the address that has most bits in common with ours on the route there (RFC 6724, rule
// 9; four bits of IPv6 count as one of IPv4); last our own addresses, those without a route, and link-local ones. Of
// another transport it takes the first one only.
[[nodiscard]] std::vector<wire::endpoint> in_order_of_route(const std::vector<wire::endpoint>& offered);

}  // namespace orc::detail
