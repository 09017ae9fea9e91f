// Chooses the interface of a multicast network: one choice for sending, the source address and the sender's
// membership. If the kernel chose each by itself, a route with another interface's address would separate them.
#pragma once

#include <optional>

#include "wire/multicast_url.h"

namespace orc::detail::multicast {

// lo, whatever its name: the kernel gives it the first index of every network.
inline constexpr int loopback = 1;

// An interface, and the source address that goes with it.
struct multicast_interface {
  int index = 0;      // 0: the kernel's route decides
  ip_address source;  // ::, 0.0.0.0: the kernel chooses one
};

// Returns the interface that the kernel's route to an address names, or its route by one interface. Nothing, with
// errno, when there is no route.
[[nodiscard]] std::optional<multicast_interface> route_to(const ip_address& address, int by = 0) noexcept;

// Returns the interface that the URL names, by its name or by one of its addresses. For an IPv4 group the kernel
// resolves an IPv4 address. Nothing, with errno, when this host has no such interface.
[[nodiscard]] std::optional<multicast_interface> named_interface(const wire::multicast_url& url) noexcept;

// Returns the index of the interface that has the address; 0: none.
[[nodiscard]] int interface_with(const ip_address& address) noexcept;

// Returns whether any program of this host is a member of the group on that interface (/proc/net/igmp, igmp6). Where
// the kernel does not say, true.
[[nodiscard]] bool is_member(const ip_address& group, int interface) noexcept;

// Returns a sender's interface: the one that the URL names; else with a TTL of 0 lo, whatever the routes are, so
// that nothing can leave the host; else that of the route. Nothing, with errno, when there is no such interface or
// route. An IPv6 group needs a route on lo as well.
[[nodiscard]] std::optional<multicast_interface> sending_interface(const wire::multicast_url& url) noexcept;

}  // namespace orc::detail::multicast
