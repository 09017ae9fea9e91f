// The UDP sockets of a multicast topic. Errors say what to do about them.
#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "core/unique_fd.h"
#include "orc/result.h"
#include "transport/multicast/channel_filter.h"
#include "transport/multicast/multicast_url.h"
#include "wire/port_range.h"

namespace orc::detail::multicast {

using socket_or_error = std::variant<unique_fd, error>;

// Receives what is sent to the group and passes the filter; shares the port with all others. Not blocking; tells when
// datagrams came (SO_TIMESTAMPNS). Joins on lo, and by join_network(); with a TTL of 0 and no interface in the URL lo
// is enough.
[[nodiscard]] socket_or_error open_receiver(const multicast_url& url, const std::vector<sock_filter>& filter);
// Joins on the interface that the URL names, else on that of the kernel's route to the group, as LCM does. False: there
// is none yet. To be called again then.
[[nodiscard]] bool join_network(int receiver, const multicast_url& url) noexcept;

// The group as socket calls take it: with the interface, where it has the group for itself.
[[nodiscard]] wire::socket_address group_at(const multicast_url& url, int interface) noexcept;

// Sends to the group, which it is connected to, by the interface of way_of() alone. From a port of its own. Not
// blocking.
[[nodiscard]] socket_or_error open_sender(const multicast_url& url);
// Where a socket's datagrams come from.
[[nodiscard]] wire::ip_port address_of(int socket) noexcept;
// Takes what subscriptions send to that address of ours, on one of those ports. From this host only with a TTL of 0.
[[nodiscard]] socket_or_error open_reports(const wire::ip_address& at, const multicast_url& url,
                                           std::size_t receive_buffer, const wire::port_range& ports = {});
[[nodiscard]] bool is_of_this_host(const wire::ip_address& address) noexcept;
// Plain UDP on any port, not blocking: to all addresses of a family (AF_INET, AF_INET6), or to one alone.
[[nodiscard]] socket_or_error open_direct(sa_family_t family, std::size_t receive_buffer);
[[nodiscard]] socket_or_error open_direct(const wire::ip_port& to, std::size_t receive_buffer);

// Bytes that a datagram may have so that it is not cut up on its way: all that UDP can carry when the group does not
// leave this host, else what the network takes in one piece.
[[nodiscard]] std::size_t datagram_size(int sender, const multicast_url& url) noexcept;

// What the kernel granted.
[[nodiscard]] std::size_t receive_buffer_of(int socket) noexcept;
// Empty, or a sentence that says how to get what was asked for.
[[nodiscard]] std::string receive_buffer_remark(int socket, const multicast_url& url);

}  // namespace orc::detail::multicast
