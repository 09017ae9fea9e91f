// An address and port that datagrams come from.
#pragma once

#include <netinet/in.h>

#include <compare>
#include <cstdint>

namespace orc::detail::multicast {

struct source {
  std::uint32_t address = 0;  // both as they stand in a sockaddr_in
  std::uint16_t port = 0;
  auto operator<=>(const source&) const = default;
};

[[nodiscard]] inline source source_of(const sockaddr_in& address) noexcept {
  return {address.sin_addr.s_addr, address.sin_port};
}

[[nodiscard]] inline sockaddr_in address_of(const source& from) noexcept {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = from.address;
  address.sin_port = from.port;
  return address;
}

}  // namespace orc::detail::multicast
