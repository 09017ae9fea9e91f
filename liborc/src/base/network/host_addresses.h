// Looks up the addresses of a host name, of both families.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/network/ip_address.h"

namespace orc::detail {

inline constexpr std::size_t max_addresses_of_host = 8;

// Returns addresses in the order of getaddrinfo (RFC 6724), except that ::1 and link-local ones of IPv6 come last; at
// most max_addresses_of_host. Empty: there is no such host. A name may ask the resolver, which can take seconds; a
// number does not. `problem`: the error of getaddrinfo (EAI_…).
[[nodiscard]] std::vector<ip_address> addresses_of_host(const std::string& name, int* problem = nullptr);

// Returns address and port of "tcp://192.0.2.1:5570" or "tcp://[2001:db8::1]:5570"; nothing for names and other
// endpoints.
[[nodiscard]] std::optional<ip_port> numbers_in(std::string_view endpoint);

// Returns whether it is "tcp://NAME:PORT" with a name to look up.
[[nodiscard]] bool names_a_host(std::string_view endpoint);

// Returns whether this host still has the address at which the socket's connection begins. True for other sockets.
[[nodiscard]] bool has_own_address(int socket) noexcept;

// Returns "tcp://NAME:PORT" once for each address of the name, numeric; empty: there is no such host. Returns any other
// endpoint unchanged. May ask the resolver.
[[nodiscard]] std::vector<std::string> numeric_endpoints(const std::string& endpoint, int* problem = nullptr);

}  // namespace orc::detail
