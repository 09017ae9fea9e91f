#include "core/route.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <bit>
#include <climits>
#include <cstring>
#include <memory>
#include <utility>

#include "core/unique_fd.h"

namespace orc::detail {

namespace {

constexpr std::string_view scheme = "tcp://";

using address_list = std::unique_ptr<addrinfo, void (*)(addrinfo*)>;

[[nodiscard]] std::string text_of(const in_addr& address) {
  char text[INET_ADDRSTRLEN] = "";
  inet_ntop(AF_INET, &address, text, sizeof text);
  return text;
}

[[nodiscard]] bool is_loopback(const in_addr& address) noexcept { return (ntohl(address.s_addr) >> 24) == 127; }
[[nodiscard]] bool is_link_local(const in_addr& address) noexcept { return (ntohl(address.s_addr) >> 16) == 0xa9fe; }

[[nodiscard]] address_list look_up(const std::string& tcp_endpoint, int flags) {
  addrinfo* found = nullptr;
  const auto colon = tcp_endpoint.rfind(':');
  if (tcp_endpoint.starts_with(scheme) && colon >= scheme.size()) {
    const std::string host = tcp_endpoint.substr(scheme.size(), colon - scheme.size());
    addrinfo hints{};
    hints.ai_family = AF_INET;
    hints.ai_socktype = SOCK_DGRAM;
    hints.ai_flags = flags;
    if (getaddrinfo(host.c_str(), tcp_endpoint.substr(colon + 1).c_str(), &hints, &found) != 0) found = nullptr;
  }
  return {found, freeaddrinfo};
}

[[nodiscard]] in_addr address_in(const addrinfo& found) noexcept {
  return reinterpret_cast<const sockaddr_in*>(found.ai_addr)->sin_addr;
}

// Connecting a datagram socket sends nothing; it only asks the kernel for the route.
[[nodiscard]] std::optional<in_addr> source_towards(const addrinfo& there) noexcept {
  const unique_fd probe(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  sockaddr_in own{};
  socklen_t size = sizeof own;
  if (!probe || ::connect(probe.get(), there.ai_addr, there.ai_addrlen) != 0 ||
      ::getsockname(probe.get(), reinterpret_cast<sockaddr*>(&own), &size) != 0)
    return std::nullopt;
  return own.sin_addr;
}

// The driver's name, for /sys may show the interfaces of another network namespace.
[[nodiscard]] bool is_bridge(const char* interface) noexcept {
  const unique_fd socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  ethtool_drvinfo driver{};
  driver.cmd = ETHTOOL_GDRVINFO;
  ifreq request{};
  std::strncpy(request.ifr_name, interface, sizeof request.ifr_name - 1);
  request.ifr_data = reinterpret_cast<char*>(&driver);
  return socket && ::ioctl(socket.get(), SIOCETHTOOL, &request) == 0 && std::strcmp(driver.driver, "bridge") == 0;
}

[[nodiscard]] int rank_of(const ifaddrs& which, const in_addr& address) noexcept {
  if (is_link_local(address)) return 2;
  return (which.ifa_flags & IFF_RUNNING) == 0 || is_bridge(which.ifa_name) ? 1 : 0;
}

// The smaller, the sooner an endpoint is tried.
[[nodiscard]] int distance_to(const std::string& endpoint) {
  constexpr int bits = 32;
  const auto there = look_up(endpoint, AI_NUMERICHOST | AI_NUMERICSERV);
  const auto own = there ? source_towards(*there) : std::nullopt;
  if (!own) return 2 * bits;
  const in_addr address = address_in(*there);
  if (is_link_local(address)) return 3 * bits;
  if (address.s_addr == own->s_addr) return bits + 1;
  return bits - std::countl_zero(ntohl(address.s_addr ^ own->s_addr));
}

}  // namespace

std::optional<std::string> numeric_endpoint(const std::string& tcp_endpoint) {
  const auto found = look_up(tcp_endpoint, 0);
  if (!found) return std::nullopt;
  return std::string(scheme) + text_of(address_in(*found)) + tcp_endpoint.substr(tcp_endpoint.rfind(':'));
}

std::optional<route> route_to(const std::string& numeric_tcp_endpoint) {
  const auto there = look_up(numeric_tcp_endpoint, AI_NUMERICHOST | AI_NUMERICSERV);
  const auto own = there ? source_towards(*there) : std::nullopt;
  if (!own) return std::nullopt;
  return route{text_of(*own), !is_loopback(*own) && own->s_addr != address_in(*there).s_addr};
}

std::vector<std::string> outside_addresses() {
  ifaddrs* list = nullptr;
  if (getifaddrs(&list) != 0) return {};
  const std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> owner(list, freeifaddrs);
  std::vector<std::pair<int, std::string>> found;
  for (const ifaddrs* each = list; each != nullptr; each = each->ifa_next) {
    if (each->ifa_addr == nullptr || each->ifa_addr->sa_family != AF_INET || (each->ifa_flags & IFF_UP) == 0) continue;
    const auto& address = reinterpret_cast<const sockaddr_in*>(each->ifa_addr)->sin_addr;
    if (!is_loopback(address)) found.emplace_back(rank_of(*each, address), text_of(address));
  }
  std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<std::string> best;
  for (auto& [rank, address] : found) {
    if (best.size() == wire::max_tcp_endpoints) break;
    if (std::find(best.begin(), best.end(), address) == best.end()) best.push_back(std::move(address));
  }
  return best;
}

std::vector<wire::endpoint> in_order_of_route(const std::vector<wire::endpoint>& offered) {
  const auto count = std::count_if(offered.begin(), offered.end(),
                                   [](const auto& each) { return each.transport == wire::transport::tcp; });
  std::vector<wire::endpoint> ordered;
  std::vector<std::pair<int, const wire::endpoint*>> over_tcp;
  for (const auto& each : offered) {
    const auto is_same = [&](const auto& other) { return other.transport == each.transport; };
    if (each.transport != wire::transport::tcp) {
      if (std::none_of(ordered.begin(), ordered.end(), is_same)) ordered.push_back(each);
    } else if (over_tcp.size() < wire::max_tcp_endpoints) {
      over_tcp.emplace_back(count > 1 ? distance_to(each.address) : 0, &each);
    }
  }
  std::stable_sort(over_tcp.begin(), over_tcp.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  for (const auto& [distance, each] : over_tcp) ordered.push_back(*each);
  return ordered;
}

}  // namespace orc::detail
