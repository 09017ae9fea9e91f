// Which of this host's addresses others should connect to.
#pragma once

#include <optional>
#include <string>

namespace orc::detail {

struct route {
  std::string address;  // of the interface that leads there
  bool loopback = true;
};

// The way to a "tcp://host:port"; nothing for other endpoints, and when there is none. May ask the resolver.
[[nodiscard]] std::optional<route> route_to(const std::string& tcp_endpoint);

// An address of this host that is not on the loopback; empty when it has none.
[[nodiscard]] std::string first_outside_address();

}  // namespace orc::detail
