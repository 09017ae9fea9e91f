#include "transport/multicast/multicast_socket.h"

#include <arpa/inet.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "transport/acceptor.h"
#include "transport/multicast/multicast_interface.h"
#include "transport/multicast/orc_datagram.h"

namespace orc::detail::multicast {

namespace {

constexpr std::size_t largest_udp_payload = 65507;
constexpr std::size_t ip_and_udp_header = 28;

[[nodiscard]] std::string how_to_route(const multicast_url& url) {
  if (!url.interface.empty()) return ". The interface may be down: `ip link set " + url.interface + " up`";
  if (url.ttl == 0) return ". With ttl=0 it goes by lo: `ip link set lo up`";
  return ". No route for multicast: `ip route add 224.0.0.0/4 dev eth0`, with the network's interface for eth0; or "
         "name it in the URL (&interface=eth0). Programs of one host need no route with ttl=0";
}

[[nodiscard]] error failure(const std::string& what, const multicast_url& url) {
  const int number = errno;
  std::string text = "cannot " + what + " for " + url.text() + ": " + std::strerror(number);
  if (number == EMFILE || number == ENFILE) return out_of_descriptors();
  if (number == ENETUNREACH || number == ENODEV || number == EHOSTUNREACH) text += how_to_route(url);
  if (number == EADDRNOTAVAIL) text += ". The interface has no IPv4 address; `ip -4 -brief address` shows which have";
  if (number == EADDRINUSE) text += ". A program has taken the port for itself; `ss -ulpn` shows which";
  if (number == ENOBUFS) text += ". Too many groups: `sysctl -w net.ipv4.igmp_max_memberships=1000`";
  return {number == EACCES || number == EPERM ? errc::no_permission : errc::system_error, std::move(text)};
}

template <typename Value>
[[nodiscard]] bool set(int socket, int level, int name, const Value& value) noexcept {
  return ::setsockopt(socket, level, name, &value, sizeof value) == 0;
}

// Joins, or is a member already.
[[nodiscard]] bool join(int socket, const ip_mreqn& at) noexcept {
  return set(socket, IPPROTO_IP, IP_ADD_MEMBERSHIP, at) || errno == EADDRINUSE;
}

[[nodiscard]] error no_interface(const multicast_url& url) {
  return {errc::bad_argument,
          "the multicast URL " + url.text() + " names an interface that this host does not have (`ip -brief address`)"};
}

[[nodiscard]] unique_fd udp_socket() noexcept {
  return unique_fd(::socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
}

// As much as may be had: past the system's limit with the privilege (CAP_NET_ADMIN).
void set_receive_buffer(int socket, std::size_t bytes) noexcept {
  const int wanted = static_cast<int>(bytes);
  if (set(socket, SOL_SOCKET, SO_RCVBUFFORCE, wanted)) return;
  (void)set(socket, SOL_SOCKET, SO_RCVBUF, wanted);
}

[[nodiscard]] bool set_filter(int socket, const std::vector<sock_filter>& filter) noexcept {
  const sock_fprog program{static_cast<unsigned short>(filter.size()), const_cast<sock_filter*>(filter.data())};
  return set(socket, SOL_SOCKET, SO_ATTACH_FILTER, program);
}

[[nodiscard]] bool bind_to(int socket, const sockaddr_in& address) noexcept {
  return ::bind(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
}

[[nodiscard]] bool bind_to_any_port(int socket, in_addr host) noexcept {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr = host;
  return bind_to(socket, address);
}

// To the group, by that interface and from that address.
[[nodiscard]] bool connect_by(int socket, const ip_mreqn& way, const multicast_url& url) noexcept {
  const sockaddr_in group = url.group_address();
  return set(socket, IPPROTO_IP, IP_MULTICAST_IF, way) &&
         ::connect(socket, reinterpret_cast<const sockaddr*>(&group), sizeof group) == 0;
}

}  // namespace

socket_or_error open_receiver(const multicast_url& url, const std::vector<sock_filter>& filter) {
  ip_mreqn by{};
  if (!find_interface(url.interface, by)) return no_interface(url);
  unique_fd socket = udp_socket();
  if (!socket) return failure("open a socket", url);
  set_receive_buffer(socket.get(), url.receive_buffer);
  const int on = 1;
  const int off = 0;
  // The filter first, so that nothing else is ever queued; the group's address, so that only the group's datagrams are.
  if (!set_filter(socket.get(), filter) || !set(socket.get(), SOL_SOCKET, SO_REUSEADDR, on) ||
      !set(socket.get(), SOL_SOCKET, SO_TIMESTAMPNS, on) || !bind_to(socket.get(), url.group_address()))
    return failure("bind a socket", url);
  (void)set(socket.get(), IPPROTO_IP, IP_MULTICAST_ALL, off);  // what others joined is not for us
  // lo always: there senders of this host are whose TTL is 0.
  const bool on_host = join(socket.get(), {url.group, {}, loopback});
  if (!join_network(socket.get(), url) && !(on_host && url.ttl == 0 && url.interface.empty()))
    return failure("join the group", url);
  return socket;
}

bool join_network(int receiver, const multicast_url& url) noexcept {
  ip_mreqn by{};
  by.imr_multiaddr = url.group;
  return find_interface(url.interface, by) && join(receiver, by);
}

socket_or_error open_sender(const multicast_url& url) {
  auto way = way_of(url);
  if (!way && !url.interface.empty()) return no_interface(url);
  if (!way) return failure("find a way", url);
  unique_fd socket = udp_socket();
  // Linux looks at a TTL of 0 only where the host is a member of the group itself; else the datagram would leave.
  if (!socket || !set(socket.get(), IPPROTO_IP, IP_MULTICAST_TTL, url.ttl) ||
      (url.ttl == 0 && !join(socket.get(), *way)))
    return failure("open a socket", url);
  if (!connect_by(socket.get(), *way, url)) return failure("open a socket", url);
  if (address_of(socket.get()).sin_addr.s_addr != INADDR_ANY) return socket;
  // The kernel does not choose the address of lo by itself.
  way->imr_address.s_addr = htonl(INADDR_LOOPBACK);
  if (way->imr_ifindex == loopback && connect_by(socket.get(), *way, url)) return socket;
  errno = EADDRNOTAVAIL;
  return failure("open a socket", url);
}

socket_or_error open_reports(const sockaddr_in& at, const multicast_url& url, std::size_t receive_buffer) {
  unique_fd socket = udp_socket();
  if (!socket) return failure("open a socket", url);
  set_receive_buffer(socket.get(), receive_buffer);
  if (url.ttl == 0 && !set_filter(socket.get(), this_host_filter(loopback))) return failure("open a socket", url);
  if (!bind_to_any_port(socket.get(), at.sin_addr)) return failure("bind a socket", url);
  return socket;
}

bool is_of_this_host(const sockaddr_in& address) noexcept {
  const unique_fd socket = udp_socket();
  return socket && bind_to_any_port(socket.get(), address.sin_addr);
}

sockaddr_in address_of(int socket) noexcept {
  sockaddr_in address{};
  socklen_t size = sizeof address;
  (void)::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size);
  return address;
}

socket_or_error open_direct(const std::optional<sockaddr_in>& to, std::size_t receive_buffer) {
  unique_fd socket = udp_socket();
  if (!socket) return out_of_descriptors();
  set_receive_buffer(socket.get(), receive_buffer);
  if (!to && !bind_to_any_port(socket.get(), {})) return out_of_descriptors();
  if (to && ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&*to), sizeof *to) != 0)
    return error(errc::system_error, "cannot reach " + to_string(*to) + ": " + std::strerror(errno));
  return socket;
}

std::size_t datagram_size(int sender, const multicast_url& url) noexcept {
  // A repair carries a datagram inside another one.
  if (url.ttl == 0) return largest_udp_payload - repair_header;
  std::size_t largest = 1500;
  int mtu = 0;
  socklen_t size = sizeof mtu;
  if (::getsockopt(sender, IPPROTO_IP, IP_MTU, &mtu, &size) == 0 && mtu >= 576) largest = static_cast<std::size_t>(mtu);
  return std::min(largest - ip_and_udp_header, largest_udp_payload) - repair_header;
}

std::size_t receive_buffer_of(int socket) noexcept {
  int bytes = 0;
  socklen_t size = sizeof bytes;
  if (::getsockopt(socket, SOL_SOCKET, SO_RCVBUF, &bytes, &size) != 0) return 0;
  return static_cast<std::size_t>(bytes);
}

std::string receive_buffer_remark(int socket, const multicast_url& url) {
  const std::size_t granted = receive_buffer_of(socket) / 2;  // the kernel counts its own memory as well
  if (granted >= url.receive_buffer) return {};
  return "the kernel keeps " + std::to_string(granted) + " bytes for it instead of " +
         std::to_string(url.receive_buffer) + ": sysctl -w net.core.rmem_max=" + std::to_string(url.receive_buffer);
}

}  // namespace orc::detail::multicast
