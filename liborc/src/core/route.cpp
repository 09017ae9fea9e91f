#include "core/route.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <memory>

#include "core/unique_fd.h"

namespace orc::detail {

namespace {

constexpr std::string_view scheme = "tcp://";

[[nodiscard]] std::string text_of(const in_addr& address) {
  char text[INET_ADDRSTRLEN] = "";
  inet_ntop(AF_INET, &address, text, sizeof text);
  return text;
}

[[nodiscard]] bool is_loopback(const in_addr& address) noexcept { return (ntohl(address.s_addr) >> 24) == 127; }

}  // namespace

std::optional<route> route_to(const std::string& tcp_endpoint) {
  const auto colon = tcp_endpoint.rfind(':');
  if (!tcp_endpoint.starts_with(scheme) || colon < scheme.size()) return std::nullopt;
  const std::string host = tcp_endpoint.substr(scheme.size(), colon - scheme.size());
  addrinfo hints{};
  hints.ai_family = AF_INET;
  hints.ai_socktype = SOCK_DGRAM;
  addrinfo* found = nullptr;
  if (getaddrinfo(host.c_str(), tcp_endpoint.substr(colon + 1).c_str(), &hints, &found) != 0) return std::nullopt;
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owner(found, freeaddrinfo);
  // Connecting a datagram socket sends nothing; it only asks the kernel for the route.
  const unique_fd probe(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  sockaddr_in own{};
  socklen_t size = sizeof own;
  if (!probe || ::connect(probe.get(), found->ai_addr, found->ai_addrlen) != 0 ||
      ::getsockname(probe.get(), reinterpret_cast<sockaddr*>(&own), &size) != 0)
    return std::nullopt;
  return route{text_of(own.sin_addr), is_loopback(own.sin_addr)};
}

std::string first_outside_address() {
  ifaddrs* list = nullptr;
  if (getifaddrs(&list) != 0) return {};
  const std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> owner(list, freeifaddrs);
  for (const ifaddrs* each = list; each != nullptr; each = each->ifa_next) {
    if (each->ifa_addr == nullptr || each->ifa_addr->sa_family != AF_INET || (each->ifa_flags & IFF_UP) == 0) continue;
    const auto& address = reinterpret_cast<const sockaddr_in*>(each->ifa_addr)->sin_addr;
    if (!is_loopback(address)) return text_of(address);
  }
  return {};
}

}  // namespace orc::detail
