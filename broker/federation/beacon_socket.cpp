#include "broker/federation/beacon_socket.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <new>
#include <utility>

namespace orc {
namespace {

using detail::socket_address;
using detail::unique_fd;

constexpr int datagrams_at_once = 32;
constexpr std::size_t most_interfaces = 32;
constexpr std::size_t most_networks = 8;  // of one interface

std::uint32_t bits_of(const sockaddr* address) {
  sockaddr_in v4{};
  std::memcpy(&v4, address, sizeof v4);
  return v4.sin_addr.s_addr;
}

in_addr group_address() {
  in_addr to{};
  (void)::inet_pton(AF_INET, std::string(beacon_socket::group).c_str(), &to);
  return to;
}

// The networks of interfaces that are up and do multicast.
beacon_socket::networks interfaces() {
  beacon_socket::networks all;
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0) return all;
  const std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> owned(list, ::freeifaddrs);
  for (const ifaddrs* each = list; each != nullptr && all.size() < most_interfaces; each = each->ifa_next) {
    const bool usable = each->ifa_addr != nullptr && each->ifa_addr->sa_family == AF_INET &&
                        each->ifa_netmask != nullptr && (each->ifa_flags & IFF_UP) != 0 &&
                        (each->ifa_flags & IFF_MULTICAST) != 0;
    if (!usable) continue;
    auto& of_this = all[static_cast<int>(::if_nametoindex(each->ifa_name))];
    if (of_this.size() < most_networks) of_this.push_back({bits_of(each->ifa_addr), bits_of(each->ifa_netmask)});
  }
  return all;
}

// The interface that a datagram came in by; 0: unknown.
int interface_of(msghdr& message) {
  for (auto* each = CMSG_FIRSTHDR(&message); each != nullptr; each = CMSG_NXTHDR(&message, each)) {
    if (each->cmsg_level != IPPROTO_IP || each->cmsg_type != IP_PKTINFO) continue;
    in_pktinfo info{};
    std::memcpy(&info, CMSG_DATA(each), sizeof info);
    return info.ipi_ifindex;
  }
  return 0;
}

}  // namespace

detail::expected<std::unique_ptr<beacon_socket>> beacon_socket::open(std::uint16_t tcp_port,
                                                                     const std::string& domain) {
  const auto failed = [](const char* what) {
    return error(errc::system_error,
                 std::string("cannot look for other brokers: ") + what + ": " + std::strerror(errno));
  };
  unique_fd fd(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd) return failed("no socket");
  const int on = 1;
  const int off = 0;
  // Several brokers of one host hear the same datagrams.
  if (::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0) return failed("SO_REUSEADDR");
  // Only from groups and interfaces that this socket joined.
  if (::setsockopt(fd.get(), IPPROTO_IP, IP_MULTICAST_ALL, &off, sizeof off) != 0) return failed("IP_MULTICAST_ALL");
  if (::setsockopt(fd.get(), IPPROTO_IP, IP_PKTINFO, &on, sizeof on) != 0) return failed("IP_PKTINFO");
  const int ttl = 1;
  if (::setsockopt(fd.get(), IPPROTO_IP, IP_MULTICAST_TTL, &ttl, sizeof ttl) != 0) return failed("IP_MULTICAST_TTL");
  sockaddr_in here{};
  here.sin_family = AF_INET;
  here.sin_port = htons(port);
  here.sin_addr = group_address();
  if (::bind(fd.get(), reinterpret_cast<const sockaddr*>(&here), sizeof here) != 0) return failed("UDP port 5570");
  return std::unique_ptr<beacon_socket>(new beacon_socket(std::move(fd), {0, tcp_port, domain}));
}

beacon_socket::beacon_socket(unique_fd socket, wire::beacon own) : socket_(std::move(socket)), own_(std::move(own)) {}

void beacon_socket::begin(std::uint64_t epoch) {
  own_.epoch = epoch;
  datagram_ = wire::encode(own_);
}

void beacon_socket::turn(clock::time_point now, owner& to) noexcept {
  for (int n = 0; n < datagrams_at_once; ++n) {
    std::array<std::byte, wire::max_beacon_bytes + 1> bytes;
    socket_address from;
    iovec into{bytes.data(), bytes.size()};
    alignas(cmsghdr) std::array<std::byte, CMSG_SPACE(sizeof(in_pktinfo))> control{};
    msghdr message{};
    message.msg_name = from.get();
    message.msg_namelen = *from.room();
    message.msg_iov = &into;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    const auto got = ::recvmsg(socket_.get(), &message, 0);
    if (got < 0) break;
    if (from.family() != AF_INET || !is_neighbour(bits_of(from.get()), interface_of(message))) continue;
    const auto heard = wire::decode_beacon(std::span(bytes).first(static_cast<std::size_t>(got)));
    if (!heard || heard->domain != own_.domain || heard->epoch == own_.epoch) continue;
    auto where = from.value();
    if (!where || where->address.is_any() || where->address.is_multicast()) continue;
    where->port = heard->port;
    to.heard(*where, heard->epoch);
  }
  if (now < due_) return;
  // Not in step with the others.
  due_ = now + period * 3 / 4 + std::chrono::milliseconds(random_() % static_cast<unsigned>(period.count() / 2));
  try {
    send();
  } catch (const std::bad_alloc&) {  // the next one
  }
}

// A forged source must not send every broker of the network to an address elsewhere.
bool beacon_socket::is_neighbour(std::uint32_t source, int interface) const noexcept {
  const auto at = joined_.find(interface);
  return at != joined_.end() && std::any_of(at->second.begin(), at->second.end(), [&](const network& each) {
           return ((source ^ each.address) & each.mask) == 0;
         });
}

void beacon_socket::send() {
  networks joined;
  for (auto& [index, its] : interfaces()) {
    ip_mreqn by{};
    by.imr_multiaddr = group_address();
    by.imr_ifindex = index;
    if (joined_.contains(index) || ::setsockopt(socket_.get(), IPPROTO_IP, IP_ADD_MEMBERSHIP, &by, sizeof by) == 0 ||
        errno == EADDRINUSE)
      joined.emplace(index, std::move(its));
    if (::setsockopt(socket_.get(), IPPROTO_IP, IP_MULTICAST_IF, &by, sizeof by) != 0) continue;
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(port);
    to.sin_addr = by.imr_multiaddr;
    (void)::sendto(socket_.get(), datagram_.data(), datagram_.size(), MSG_NOSIGNAL,
                   reinterpret_cast<const sockaddr*>(&to), sizeof to);
  }
  joined_ = std::move(joined);
}

}  // namespace orc
