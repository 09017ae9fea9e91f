// The UDP sockets of a multicast topic. Errors say how to fix them.
#pragma once

#include <string>
#include <string_view>

#include "base/expected.h"
#include "base/files/unique_fd.h"
#include "base/network/port_range.h"
#include "transport/multicast/socket/channel_filter.h"
#include "wire/multicast_url.h"

namespace orc::detail::multicast {

// Receives what is sent to the group and passes the filter. Shares the port with all others. Non-blocking; reports
// arrival times (SO_TIMESTAMPNS). Joins on lo, and by join_network(). With a TTL of 0 and no interface in the URL, lo
// suffices.
[[nodiscard]] expected<unique_fd> open_receiver(const wire::multicast_url& url, const std::vector<sock_filter>& filter);
// Joins on the interface that the URL names, else on that of the kernel's route to the group, as LCM does. Leaves the
// one that it joined before, `member_of`, if that is another one. Returns the index of the interface; 0: there is none
// yet. Call it again when addresses or routes change: a membership goes with its interface.
[[nodiscard]] int join_network(int receiver, const wire::multicast_url& url, int member_of = 0) noexcept;
// The index of the interface by which open_sender() sends now; 0: none.
[[nodiscard]] int network_of(const wire::multicast_url& url) noexcept;

// The group for socket calls, with the interface when each interface has its own group of that name.
[[nodiscard]] socket_address group_at(const wire::multicast_url& url, int interface) noexcept;

// Sends to the group, by the interface of sending_interface() alone. It is connected to the group, has a port of its
// own, and does not block.
[[nodiscard]] expected<unique_fd> open_sender(const wire::multicast_url& url);
// The address that a socket's datagrams come from.
[[nodiscard]] ip_port address_of(int socket) noexcept;
// Receives what subscriptions send to that address of ours, on one of those ports. With a TTL of 0 only from this host.
[[nodiscard]] expected<unique_fd> open_reports(const ip_address& at, const wire::multicast_url& url,
                                               std::size_t receive_buffer, const port_range& ports = {});
[[nodiscard]] bool is_of_this_host(const ip_address& address) noexcept;
// Plain UDP on any port, non-blocking: at all addresses of a family (AF_INET, AF_INET6), or connected to one address.
[[nodiscard]] expected<unique_fd> open_direct(sa_family_t family, std::size_t receive_buffer);
[[nodiscard]] expected<unique_fd> open_direct(const ip_port& to, std::size_t receive_buffer);

// The largest datagram that is not cut on its way: all that UDP can carry when the group does not leave this host, else
// what the network takes in one piece.
[[nodiscard]] std::size_t datagram_size(int sender, const wire::multicast_url& url) noexcept;
// The same for a network of this MTU.
[[nodiscard]] std::size_t datagram_size_at(std::size_t mtu, const wire::multicast_url& url) noexcept;

// The size that the kernel granted.
[[nodiscard]] std::size_t receive_buffer_of(int socket) noexcept;
// Empty, or a sentence that says how to get the requested size.
[[nodiscard]] std::string receive_buffer_remark(int socket, const wire::multicast_url& url);

}  // namespace orc::detail::multicast
