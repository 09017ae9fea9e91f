// Which of this host's addresses others should connect to, and which of theirs it should.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "wire/control.h"

namespace orc::detail {

// "tcp://192.0.2.1:5570" for a "tcp://host:port"; nothing for other endpoints and unknown hosts. May ask the resolver.
[[nodiscard]] std::optional<std::string> numeric_endpoint(const std::string& tcp_endpoint);

struct route {
  std::string address;       // of ours that the kernel connects from
  bool leaves_host = false;  // it is not an address of this host itself
};

// The present way to a numeric "tcp://address:port"; nothing for other endpoints, and when there is none. Sends
// nothing.
[[nodiscard]] std::optional<route> route_to(const std::string& numeric_tcp_endpoint);

// The addresses of this host's interfaces that are up, but for the loopback's: at most wire::max_tcp_endpoints, best
// first. Those of bridges and of interfaces without a carrier are last but for link-local ones.
[[nodiscard]] std::vector<std::string> outside_addresses();

// A publication's endpoints in the order in which this host should try them. Of those over tcp, at most
// wire::max_tcp_endpoints, first the one whose address has most bits in common with ours that leads there (RFC 6724,
// rule 9); last our own addresses, those that no route leads to, and link-local ones. Of another transport the first
// one only.
[[nodiscard]] std::vector<wire::endpoint> in_order_of_route(const std::vector<wire::endpoint>& offered);

}  // namespace orc::detail
