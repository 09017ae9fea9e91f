#include "transport/multicast/socket/multicast_socket.h"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "transport/multicast/datagram/orc_datagram.h"
#include "transport/multicast/socket/multicast_interface.h"
#include "transport/out_of_descriptors.h"
#include "wire/control.h"

namespace orc::detail::multicast {

namespace {

constexpr std::size_t max_udp_payload = 65507;
constexpr std::size_t max_packet_bytes = 65536;  // MTU of lo
constexpr std::size_t udp_header_bytes = 8;
constexpr std::size_t v4_header = 20;
constexpr std::size_t v6_header = 40;

[[nodiscard]] sa_family_t family_of(const ip_address& address) noexcept { return address.is_v4() ? AF_INET : AF_INET6; }

[[nodiscard]] std::string how_to_route_v6(const wire::multicast_url& url) {
  if (url.ttl == 0)
    return ". With ttl=0 it goes by lo, where an IPv6 group needs a route: `ip -6 route add local ff00::/8 dev lo`. An "
           "IPv4 group needs none";
  if (url.interface.empty()) return ". No interface has IPv6, or all are down: `ip -6 -brief address` shows which have";
  return ". The interface may be down, or have no IPv6: `ip link set " + url.interface + " up`, `ip -6 -brief address`";
}

[[nodiscard]] std::string how_to_route(const wire::multicast_url& url) {
  if (!url.group.is_v4()) return how_to_route_v6(url);
  if (!url.interface.empty()) return ". The interface may be down: `ip link set " + url.interface + " up`";
  if (url.ttl == 0) return ". With ttl=0 it goes by lo: `ip link set lo up`";
  return ". No route for multicast: `ip route add 224.0.0.0/4 dev eth0`, with the network's interface for eth0; or "
         "name it in the URL (&interface=eth0). Programs of one host need no route with ttl=0";
}

[[nodiscard]] error failure(const std::string& what, const wire::multicast_url& url) {
  const int number = errno;
  std::string text = "cannot " + what + " for " + url.text() + ": " + std::strerror(number);
  if (number == EMFILE || number == ENFILE) return out_of_descriptors();
  if (number == ENETUNREACH || number == ENODEV || number == EHOSTUNREACH) text += how_to_route(url);
  if (number == EADDRNOTAVAIL)
    text += url.group.is_v4() ? ". The interface has no IPv4 address; `ip -4 -brief address` shows which have"
                              : ". The interface has no IPv6 address; `ip -6 -brief address` shows which have";
  if (number == EAFNOSUPPORT) text += ". This kernel has no IPv6; take an IPv4 group";
  if (number == EADDRINUSE) text += ". A program has taken the port for itself; `ss -ulpn` shows which";
  if (number == ENOBUFS && url.group.is_v4())
    text += ". Too many groups: `sysctl -w net.ipv4.igmp_max_memberships=1000`";
  return {number == EACCES || number == EPERM ? errc::no_permission : errc::system_error, std::move(text)};
}

template <typename Value>
[[nodiscard]] bool set(int socket, int level, int name, const Value& value) noexcept {
  return ::setsockopt(socket, level, name, &value, sizeof value) == 0;
}

[[nodiscard]] ip_mreqn v4_membership(const ip_address& group, const multicast_interface& by) noexcept {
  return {group.v4(), by.source.is_v4() ? by.source.v4() : in_addr{}, by.index};
}

// Joins, or is a member already.
[[nodiscard]] bool join(int socket, const ip_address& group, const multicast_interface& by) noexcept {
  if (group.is_v4()) return set(socket, IPPROTO_IP, IP_ADD_MEMBERSHIP, v4_membership(group, by)) || errno == EADDRINUSE;
  const ipv6_mreq at{group.v6(), static_cast<unsigned>(by.index)};
  return set(socket, IPPROTO_IPV6, IPV6_ADD_MEMBERSHIP, at) || errno == EADDRINUSE;
}

// The interface may be gone.
void leave(int socket, const ip_address& group, int interface) noexcept {
  if (group.is_v4())
    (void)set(socket, IPPROTO_IP, IP_DROP_MEMBERSHIP, v4_membership(group, {.index = interface, .source = {}}));
  else
    (void)set(socket, IPPROTO_IPV6, IPV6_DROP_MEMBERSHIP, ipv6_mreq{group.v6(), static_cast<unsigned>(interface)});
}

// Its index, also where it is named by an address or by a route. 0: there is none.
[[nodiscard]] int index_of(const multicast_interface& which, const wire::multicast_url& url) noexcept {
  if (which.index != 0) return which.index;
  if (!which.source.is_any()) return interface_with(which.source);
  const auto routed = route_to(url.group);
  return routed ? routed->index : 0;
}

[[nodiscard]] error no_interface(const wire::multicast_url& url) {
  return {errc::bad_argument,
          "the multicast URL " + url.text() + " names an interface that this host does not have (`ip -brief address`)"};
}

[[nodiscard]] unique_fd udp_socket(sa_family_t family) noexcept {
  unique_fd socket(::socket(family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  const int on = 1;
  if (socket && family == AF_INET6 && !set(socket.get(), IPPROTO_IPV6, IPV6_V6ONLY, on)) return {};
  return socket;
}

// As much as possible: beyond the system's limit with the privilege (CAP_NET_ADMIN).
void set_receive_buffer(int socket, std::size_t bytes) noexcept {
  const int wanted = static_cast<int>(bytes);
  if (set(socket, SOL_SOCKET, SO_RCVBUFFORCE, wanted)) return;
  (void)set(socket, SOL_SOCKET, SO_RCVBUF, wanted);
}

[[nodiscard]] bool set_filter(int socket, const std::vector<sock_filter>& filter) noexcept {
  const sock_fprog program{static_cast<unsigned short>(filter.size()), const_cast<sock_filter*>(filter.data())};
  return set(socket, SOL_SOCKET, SO_ATTACH_FILTER, program);
}

[[nodiscard]] bool bind_to(int socket, const socket_address& address) noexcept {
  return ::bind(socket, address.get(), address.size()) == 0;
}

[[nodiscard]] bool bind_to_any_port(int socket, const ip_address& host) noexcept {
  return bind_to(socket, socket_address({host, 0}));
}

[[nodiscard]] bool set_hops(int socket, const wire::multicast_url& url) noexcept {
  return url.group.is_v4() ? set(socket, IPPROTO_IP, IP_MULTICAST_TTL, url.ttl)
                           : set(socket, IPPROTO_IPV6, IPV6_MULTICAST_HOPS, url.ttl);
}

// By that interface and from that address.
[[nodiscard]] bool set_interface(int socket, const ip_address& group, const multicast_interface& by) noexcept {
  if (group.is_v4()) return set(socket, IPPROTO_IP, IP_MULTICAST_IF, v4_membership(group, by));
  return set(socket, IPPROTO_IPV6, IPV6_MULTICAST_IF, by.index) &&
         (by.source.is_any() || bind_to_any_port(socket, by.source));
}

[[nodiscard]] bool connect_by(int socket, const multicast_interface& by, const wire::multicast_url& url) noexcept {
  const auto group = group_at(url, by.index);
  return set_interface(socket, url.group, by) && ::connect(socket, group.get(), group.size()) == 0;
}

// Excludes groups that other sockets joined.
void take_own_groups_only(int socket, const wire::multicast_url& url) noexcept {
  const int off = 0;
  if (url.group.is_v4())
    (void)set(socket, IPPROTO_IP, IP_MULTICAST_ALL, off);
  else
    (void)set(socket, IPPROTO_IPV6, IPV6_MULTICAST_ALL, off);
}

}  // namespace

socket_address group_at(const wire::multicast_url& url, int interface) noexcept {
  ip_port group{url.group, url.port};
  if (url.is_of_one_interface()) group.address.scope = static_cast<std::uint32_t>(interface);
  return socket_address(group);
}

expected<unique_fd> open_receiver(const wire::multicast_url& url, const std::vector<sock_filter>& filter) {
  const auto named = named_interface(url);
  if (!named) return no_interface(url);
  unique_fd socket = udp_socket(family_of(url.group));
  if (!socket) return failure("open a socket", url);
  set_receive_buffer(socket.get(), url.receive_buffer);
  const int on = 1;
  // Sets the filter first, so that nothing else is ever queued. Binds to the group's address, so that only the group's
  // datagrams arrive.
  if (!set_filter(socket.get(), filter) || !set(socket.get(), SOL_SOCKET, SO_REUSEADDR, on) ||
      !set(socket.get(), SOL_SOCKET, SO_TIMESTAMPNS, on) ||
      !bind_to(socket.get(), group_at(url, named->index != 0 ? named->index : loopback)))
    return failure("bind a socket", url);
  take_own_groups_only(socket.get(), url);
  // Always joins on lo, where senders of this host with a TTL of 0 send.
  const bool on_host = join(socket.get(), url.group, {.index = loopback, .source = {}});
  if (join_network(socket.get(), url) == 0 && !(on_host && url.ttl == 0 && url.interface.empty()))
    return failure("join the group", url);
  return socket;
}

// Never leaves the choice to the kernel: IPv6 would take the membership on lo for the requested one.
int join_network(int receiver, const wire::multicast_url& url, int member_of) noexcept {
  const auto named = named_interface(url);
  const int by = named ? index_of(*named, url) : 0;
  // The socket keeps what it joined on an interface that is gone, and the kernel takes that for a membership on the
  // next one with this index.
  if (member_of > loopback && !is_member(url.group, member_of)) {
    leave(receiver, url.group, member_of);
    member_of = 0;
  }
  if (by == 0 || by == member_of || !join(receiver, url.group, {.index = by, .source = {}})) return member_of;
  if (member_of > loopback) leave(receiver, url.group, member_of);
  return by;
}

int network_of(const wire::multicast_url& url) noexcept {
  const auto by = sending_interface(url);
  return by ? index_of(*by, url) : 0;
}

expected<unique_fd> open_sender(const wire::multicast_url& url) {
  auto by = sending_interface(url);
  if (!by && errno == ENODEV && !url.interface.empty()) return no_interface(url);
  if (!by) return failure("find a route", url);
  unique_fd socket = udp_socket(family_of(url.group));
  // Linux honours a TTL of 0 only where the host itself is a member of the group. Otherwise the datagram would leave.
  if (!socket || !set_hops(socket.get(), url) || (url.ttl == 0 && !join(socket.get(), url.group, *by)))
    return failure("open a socket", url);
  if (!connect_by(socket.get(), *by, url)) return failure("open a socket", url);
  if (!address_of(socket.get()).address.is_any()) return socket;
  // The kernel does not choose the address of lo by itself.
  by->source = ip_address::loopback_v4();
  if (url.group.is_v4() && by->index == loopback && connect_by(socket.get(), *by, url)) return socket;
  errno = EADDRNOTAVAIL;
  return failure("open a socket", url);
}

expected<unique_fd> open_reports(const ip_address& at, const wire::multicast_url& url, std::size_t receive_buffer,
                                 const port_range& ports) {
  unique_fd socket = udp_socket(family_of(at));
  if (!socket) return failure("open a socket", url);
  set_receive_buffer(socket.get(), receive_buffer);
  if (url.ttl == 0 && !set_filter(socket.get(), this_host_filter(loopback))) return failure("open a socket", url);
  bool bound = false;
  const bool tried = try_ports(ports, wire::id::random().lo, [&](std::uint16_t port) {
    bound = bind_to(socket.get(), socket_address({at, port}));
    return bound || errno != EADDRINUSE;
  });
  if (!tried && !ports.any()) return error(errc::system_error, ports.all_taken("ss -lunp"));
  if (!bound) return failure("bind a socket", url);
  return socket;
}

bool is_of_this_host(const ip_address& address) noexcept {
  if (!address.is_v4() && address.is_link_local()) return interface_with(address) != 0;
  const unique_fd socket = udp_socket(family_of(address));
  return socket && bind_to_any_port(socket.get(), address);
}

ip_port address_of(int socket) noexcept {
  socket_address address;
  (void)::getsockname(socket, address.get(), address.room());
  auto own = address.value().value_or(ip_port{});
  // The kernel omits it unless the socket is bound to the interface.
  int interface = 0;
  socklen_t size = sizeof interface;
  const bool lacks_scope = !own.address.is_v4() && own.address.is_link_local() && own.address.scope == 0;
  if (lacks_scope && ::getsockopt(socket, IPPROTO_IPV6, IPV6_MULTICAST_IF, &interface, &size) == 0)
    own.address.scope = static_cast<std::uint32_t>(interface);
  return own;
}

expected<unique_fd> open_direct(sa_family_t family, std::size_t receive_buffer) {
  unique_fd socket = udp_socket(family);
  if (!socket) return out_of_descriptors();
  set_receive_buffer(socket.get(), receive_buffer);
  if (!bind_to_any_port(socket.get(), family == AF_INET ? ip_address::any_v4() : ip_address{}))
    return out_of_descriptors();
  return socket;
}

expected<unique_fd> open_direct(const ip_port& to, std::size_t receive_buffer) {
  unique_fd socket = udp_socket(family_of(to.address));
  if (!socket) return out_of_descriptors();
  set_receive_buffer(socket.get(), receive_buffer);
  const socket_address address(to);
  if (::connect(socket.get(), address.get(), address.size()) != 0)
    return error(errc::system_error, "cannot reach " + to.text() + ": " + std::strerror(errno));
  return socket;
}

std::size_t datagram_size(int sender, const wire::multicast_url& url) noexcept {
  if (url.ttl == 0) return datagram_size_at(max_packet_bytes, url);
  int mtu = 0;
  socklen_t size = sizeof mtu;
  const bool known = url.group.is_v4() ? ::getsockopt(sender, IPPROTO_IP, IP_MTU, &mtu, &size) == 0
                                       : ::getsockopt(sender, IPPROTO_IPV6, IPV6_MTU, &mtu, &size) == 0;
  return datagram_size_at(known && mtu >= 576 ? static_cast<std::size_t>(mtu) : 1500, url);
}

// A repair carries a datagram inside another one.
std::size_t datagram_size_at(std::size_t mtu, const wire::multicast_url& url) noexcept {
  const std::size_t headers = udp_header_bytes + (url.group.is_v4() ? v4_header : v6_header);
  return std::min(mtu - headers, max_udp_payload) - repair_header;
}

std::size_t receive_buffer_of(int socket) noexcept {
  int bytes = 0;
  socklen_t size = sizeof bytes;
  if (::getsockopt(socket, SOL_SOCKET, SO_RCVBUF, &bytes, &size) != 0) return 0;
  return static_cast<std::size_t>(bytes);
}

std::string receive_buffer_remark(int socket, const wire::multicast_url& url) {
  const std::size_t granted = receive_buffer_of(socket) / 2;  // the kernel counts its own memory as well
  if (granted >= url.receive_buffer) return {};
  return "the kernel keeps " + std::to_string(granted) + " bytes for it instead of " +
         std::to_string(url.receive_buffer) + ": sysctl -w net.core.rmem_max=" + std::to_string(url.receive_buffer);
}

}  // namespace orc::detail::multicast
