#include "transport/multicast/socket/multicast_interface.h"

#include <ifaddrs.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <span>

#include "base/files/unique_fd.h"

namespace orc::detail::multicast {

namespace {

// A request with its attributes, aligned as netlink does: a head of four bytes, and the value.
class route_request {
 public:
  route_request(const ip_address& destination, int by) noexcept {
    head_.nlmsg_len = NLMSG_LENGTH(sizeof body_);
    head_.nlmsg_type = RTM_GETROUTE;
    head_.nlmsg_flags = NLM_F_REQUEST;
    const bool v4 = destination.is_v4();
    body_.rtm_family = v4 ? AF_INET : AF_INET6;
    body_.rtm_dst_len = v4 ? 32 : 128;
    const std::size_t size = v4 ? sizeof(in_addr) : sizeof(in6_addr);
    add(RTA_DST, destination.bytes.data() + destination.bytes.size() - size, size);
    if (by != 0) add(RTA_OIF, &by, sizeof by);
  }
  [[nodiscard]] bool send(int socket) const noexcept { return ::send(socket, this, head_.nlmsg_len, 0) >= 0; }

 private:
  void add(unsigned short type, const void* what, std::size_t size) noexcept {
    const rtattr name{static_cast<unsigned short>(RTA_LENGTH(size)), type};
    std::memcpy(attributes_.data() + used_, &name, sizeof name);
    std::memcpy(attributes_.data() + used_ + sizeof name, what, size);
    used_ += RTA_ALIGN(name.rta_len);
    head_.nlmsg_len += static_cast<std::uint32_t>(RTA_ALIGN(name.rta_len));
  }

  nlmsghdr head_{};
  rtmsg body_{};
  std::array<std::byte, 32> attributes_{};
  std::size_t used_ = 0;
};

// The bytes of the attribute, or zeros.
template <typename Value>
[[nodiscard]] Value read(std::span<const std::byte> from, std::size_t at) noexcept {
  Value value{};
  if (at + sizeof value <= from.size()) std::memcpy(&value, from.data() + at, sizeof value);
  return value;
}

[[nodiscard]] std::optional<multicast_interface> read_answer(std::span<const std::byte> answer) noexcept {
  const auto type = read<nlmsghdr>(answer, 0).nlmsg_type;
  if (type != RTM_NEWROUTE) {
    const int failed = type == NLMSG_ERROR ? -read<nlmsgerr>(answer, NLMSG_HDRLEN).error : 0;
    errno = failed > 0 ? failed : EPROTO;
    return std::nullopt;
  }
  multicast_interface found;
  const auto body = read<rtmsg>(answer, NLMSG_HDRLEN);
  const bool v4 = body.rtm_family == AF_INET;
  for (std::size_t at = NLMSG_HDRLEN + NLMSG_ALIGN(sizeof(rtmsg)); at < answer.size();) {
    const auto each = read<rtattr>(answer, at);
    if (each.rta_len < sizeof each) break;
    if (each.rta_type == RTA_OIF) found.index = read<int>(answer, at + sizeof each);
    if (each.rta_type == RTA_PREFSRC)
      found.source = v4 ? ip_address::of(read<in_addr>(answer, at + sizeof each))
                        : ip_address::of(read<in6_addr>(answer, at + sizeof each));
    at += RTA_ALIGN(each.rta_len);
  }
  // IPv6 silently drops what goes by any other route on lo, or by a route that refuses.
  const bool passes = found.index == loopback ? body.rtm_type == RTN_LOCAL
                                              : body.rtm_type == RTN_MULTICAST || body.rtm_type == RTN_UNICAST;
  if (v4 || passes) return found;
  errno = ENETUNREACH;
  return std::nullopt;
}

// The same group with global scope: for that the kernel prefers an address that others know as well.
[[nodiscard]] ip_address made_global(ip_address group) noexcept {
  group.bytes[1] = static_cast<std::uint8_t>(group.bytes[1] | 0x0e) & 0xfe;
  return group;
}

// An address of this host that others know as well, because the topic map shows it. None: ::.
[[nodiscard]] ip_address known_source(const wire::multicast_url& url, int by) noexcept {
  const auto routed = route_to(made_global(url.group), by);
  return routed && !routed->source.is_link_local() ? routed->source : ip_address{};
}

[[nodiscard]] std::optional<multicast_interface> interface_over_v6(const wire::multicast_url& url,
                                                                   multicast_interface chosen) noexcept {
  if (url.ttl == 0) chosen.index = loopback;
  const auto routed = route_to(url.group, chosen.index);
  if (!routed) return std::nullopt;
  chosen.index = routed->index;
  const bool stays = chosen.index == loopback;
  chosen.source = known_source(url, stays ? 0 : chosen.index);
  if (stays && chosen.source.is_any()) chosen.source = ip_address::of(in6addr_loopback);
  return chosen;
}

}  // namespace

// RTM_GETROUTE (rtnetlink(7)), as `ip route get` does: connect() would report only the source.
std::optional<multicast_interface> route_to(const ip_address& address, int by) noexcept {
  const unique_fd socket(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE));
  std::array<std::byte, 4096> answer;
  // The kernel answers within send().
  if (!socket || !route_request(address, by).send(socket.get())) return std::nullopt;
  const auto size = ::recv(socket.get(), answer.data(), answer.size(), MSG_DONTWAIT);
  if (size < 0) return std::nullopt;
  return read_answer(std::span(answer).first(static_cast<std::size_t>(size)));
}

int interface_with(const ip_address& address) noexcept {
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0) return 0;
  const std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> owner(list, ::freeifaddrs);
  for (const ifaddrs* each = list; each != nullptr; each = each->ifa_next) {
    const auto has = each->ifa_addr != nullptr ? ip_port::of(*each->ifa_addr) : std::nullopt;
    if (has && has->address.bytes == address.bytes) return static_cast<int>(::if_nametoindex(each->ifa_name));
  }
  return 0;
}

std::optional<multicast_interface> named_interface(const wire::multicast_url& url) noexcept {
  if (url.interface.empty()) return multicast_interface{};
  multicast_interface found;
  const auto address = ip_address::parse(url.interface);
  if (address && address->is_v4() && url.group.is_v4()) {
    found.source = *address;
    return found;
  }
  found.index = address ? interface_with(*address) : static_cast<int>(::if_nametoindex(url.interface.c_str()));
  if (found.index != 0) return found;
  errno = ENODEV;
  return std::nullopt;
}

bool is_member(const ip_address& group, int interface) noexcept {
  const bool v4 = group.is_v4();
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> list(
      std::fopen(v4 ? "/proc/net/igmp" : "/proc/net/igmp6", "re"), std::fclose);
  if (!list) return true;
  std::array<char, 33> wanted{};
  if (v4) (void)std::snprintf(wanted.data(), wanted.size(), "%08X", group.v4().s_addr);
  for (std::size_t i = 0; !v4 && i < group.bytes.size(); ++i)
    (void)std::snprintf(&wanted[2 * i], 3, "%02x", group.bytes[i]);
  int at = 0;  // igmp: the groups follow the line of their interface
  std::array<char, 128> line;
  while (std::fgets(line.data(), line.size(), list.get()) != nullptr) {
    std::array<char, 33> found{};
    const bool is_group = v4 ? std::sscanf(line.data(), "\t%32s", found.data()) == 1 && line[0] == '\t'
                             : std::sscanf(line.data(), "%d %*s %32s", &at, found.data()) == 2;
    if (v4 && line[0] != '\t') at = std::atoi(line.data());
    if (is_group && at == interface && std::strcmp(found.data(), wanted.data()) == 0) return true;
  }
  return false;
}

std::optional<multicast_interface> sending_interface(const wire::multicast_url& url) noexcept {
  auto chosen = named_interface(url);
  if (!chosen) return std::nullopt;
  if (!url.group.is_v4()) return interface_over_v6(url, *chosen);
  const bool named = !url.interface.empty();
  const bool stays = named ? chosen->index == loopback : url.ttl == 0;
  if (named && !stays) return chosen;
  const auto routed = route_to(url.group);
  if (!routed && !stays) return std::nullopt;
  chosen->index = stays ? loopback : routed->index;
  // An address of this host that others know as well, because the topic map shows it. Every host has that of lo.
  if (routed) chosen->source = routed->source;
  return chosen;
}

}  // namespace orc::detail::multicast
