// By which interface a multicast network goes: one choice for the way out, the source address and the membership that a
// sender needs. Were they left to the kernel one by one, a route with another interface's address would part them.
#pragma once

#include <netinet/in.h>

#include <optional>

#include "transport/multicast/multicast_url.h"

namespace orc::detail::multicast {

// lo, however it is called: the kernel gives it the first index of every network.
inline constexpr int loopback = 1;

// The interface that the kernel's route to an address names, and the source address that goes with it (none: 0.0.0.0).
// Nothing, with errno, when there is no route.
struct route {
  int interface = 0;
  in_addr source{};
};
[[nodiscard]] std::optional<route> route_to(in_addr address) noexcept;

// For a sender: the interface that the URL names; else lo with a TTL of 0, whatever the routes say, so that nothing can
// leave the host; else that of the route. `imr_address` is the source, 0.0.0.0 when the kernel is to choose one of that
// interface. Nothing, with errno, when there is no such interface or route.
[[nodiscard]] std::optional<ip_mreqn> way_of(const multicast_url& url) noexcept;

}  // namespace orc::detail::multicast
