#include "beacon_socket.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/socket.h>

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

in_addr group_address() {
  in_addr to{};
  (void)::inet_pton(AF_INET, std::string(beacon_socket::group).c_str(), &to);
  return to;
}

// Interfaces that are up and do multicast.
std::set<int> interfaces() {
  std::set<int> all;
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0) return all;
  const std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> owned(list, ::freeifaddrs);
  for (const ifaddrs* each = list; each != nullptr && all.size() < most_interfaces; each = each->ifa_next) {
    const bool usable = each->ifa_addr != nullptr && each->ifa_addr->sa_family == AF_INET &&
                        (each->ifa_flags & IFF_UP) != 0 && (each->ifa_flags & IFF_MULTICAST) != 0;
    if (usable) all.insert(static_cast<int>(::if_nametoindex(each->ifa_name)));
  }
  return all;
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
    socklen_t size = *from.room();
    const auto got = ::recvfrom(socket_.get(), bytes.data(), bytes.size(), 0, from.get(), &size);
    if (got < 0) break;
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

void beacon_socket::send() {
  std::set<int> joined;
  for (const int index : interfaces()) {
    ip_mreqn by{};
    by.imr_multiaddr = group_address();
    by.imr_ifindex = index;
    if (joined_.contains(index) || ::setsockopt(socket_.get(), IPPROTO_IP, IP_ADD_MEMBERSHIP, &by, sizeof by) == 0 ||
        errno == EADDRINUSE)
      joined.insert(index);
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
