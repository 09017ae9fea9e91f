#include "transport/multicast/multicast_interface.h"

#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <span>

#include "core/unique_fd.h"

namespace orc::detail::multicast {

namespace {

struct route_request {
  nlmsghdr head{};
  rtmsg body{};
  rtattr name{};
  in_addr destination{};
};

// What stands there, or zeros.
template <typename Value>
[[nodiscard]] Value read(std::span<const std::byte> from, std::size_t at) noexcept {
  Value value{};
  if (at + sizeof value <= from.size()) std::memcpy(&value, from.data() + at, sizeof value);
  return value;
}

[[nodiscard]] std::optional<route> read_answer(std::span<const std::byte> answer) noexcept {
  const auto type = read<nlmsghdr>(answer, 0).nlmsg_type;
  if (type != RTM_NEWROUTE) {
    const int failed = type == NLMSG_ERROR ? -read<nlmsgerr>(answer, NLMSG_HDRLEN).error : 0;
    errno = failed > 0 ? failed : EPROTO;
    return std::nullopt;
  }
  route found;
  for (std::size_t at = NLMSG_HDRLEN + NLMSG_ALIGN(sizeof(rtmsg)); at < answer.size();) {
    const auto each = read<rtattr>(answer, at);
    if (each.rta_len < sizeof each) break;
    if (each.rta_type == RTA_OIF) found.interface = read<int>(answer, at + sizeof each);
    if (each.rta_type == RTA_PREFSRC) found.source = read<in_addr>(answer, at + sizeof each);
    at += RTA_ALIGN(each.rta_len);
  }
  return found;
}

}  // namespace

// RTM_GETROUTE (rtnetlink(7)), as `ip route get` asks: connect() would only tell the source.
std::optional<route> route_to(in_addr address) noexcept {
  const unique_fd socket(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE));
  if (!socket) return std::nullopt;
  route_request request;
  request.head.nlmsg_len = static_cast<std::uint32_t>(sizeof request);
  request.head.nlmsg_type = RTM_GETROUTE;
  request.head.nlmsg_flags = NLM_F_REQUEST;
  request.body.rtm_family = AF_INET;
  request.body.rtm_dst_len = 32;
  request.name.rta_len = RTA_LENGTH(sizeof address);
  request.name.rta_type = RTA_DST;
  request.destination = address;
  std::array<std::byte, 4096> answer;
  // The kernel answers within send().
  if (::send(socket.get(), &request, sizeof request, 0) < 0) return std::nullopt;
  const auto size = ::recv(socket.get(), answer.data(), answer.size(), MSG_DONTWAIT);
  if (size < 0) return std::nullopt;
  return read_answer(std::span(answer).first(static_cast<std::size_t>(size)));
}

std::optional<ip_mreqn> way_of(const multicast_url& url) noexcept {
  ip_mreqn way{};
  way.imr_multiaddr = url.group;
  const bool named = !url.interface.empty();
  if (!find_interface(url.interface, way)) {
    errno = ENODEV;
    return std::nullopt;
  }
  const bool stays = named ? way.imr_ifindex == loopback : url.ttl == 0;
  if (named && !stays) return way;
  const auto routed = route_to(url.group);
  if (!routed && !stays) return std::nullopt;
  way.imr_ifindex = stays ? loopback : routed->interface;
  // An address of this host that others know as well: the topic map shows it. That of lo every host has.
  if (routed) way.imr_address = routed->source;
  return way;
}

}  // namespace orc::detail::multicast
