// By which interface a multicast network goes: one choice for the way out, the source address and the membership that a
// sender needs. Were they left to the kernel one by one, a route with another interface's address would part them.
#pragma once

#include <optional>

#include "transport/multicast/multicast_url.h"

namespace orc::detail::multicast {

// lo, however it is called: the kernel gives it the first index of every network.
inline constexpr int loopback = 1;

// An interface, and the source address that goes with it.
struct way {
  int interface = 0;        // 0: the kernel's route decides
  wire::ip_address source;  // ::, 0.0.0.0: the kernel chooses one
};

// The way that the kernel's route to an address names, or its route by one interface. Nothing, with errno, when there
// is no route.
[[nodiscard]] std::optional<way> route_to(const wire::ip_address& address, int by = 0) noexcept;

// The interface that the URL names, by its name or by an address of it; for an IPv4 group an IPv4 address is left to
// the kernel. Nothing, with errno, when this host has no such interface.
[[nodiscard]] std::optional<way> named_way(const multicast_url& url) noexcept;

// Index of the interface that has the address; 0: none.
[[nodiscard]] int interface_with(const wire::ip_address& address) noexcept;

// For a sender: the interface that the URL names; else lo with a TTL of 0, whatever the routes say, so that nothing can
// leave the host; else that of the route. Nothing, with errno, when there is no such interface or route. An IPv6 group
// needs a route on lo as well.
[[nodiscard]] std::optional<way> way_of(const multicast_url& url) noexcept;

}  // namespace orc::detail::multicast
