#include "core/links/route.h"

#include <ifaddrs.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <bit>
#include <climits>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>

#include "base/files/unique_fd.h"
#include "base/network/host_addresses.h"
#include "base/network/ip_address.h"

namespace orc::detail {

namespace {

// Connecting a datagram socket sends nothing. It only asks the kernel for the route.
[[nodiscard]] std::optional<ip_address> source_towards(const ip_port& there) noexcept {
  const socket_address to(there);
  const unique_fd probe(::socket(to.family(), SOCK_DGRAM | SOCK_CLOEXEC, 0));
  socket_address own;
  if (!probe || ::connect(probe.get(), to.get(), to.size()) != 0 ||
      ::getsockname(probe.get(), own.get(), own.room()) != 0)
    return std::nullopt;
  const auto from = own.value();
  return from ? std::optional(from->address) : std::nullopt;
}

// An IPv6 address is unusable while another host may have it as well (RFC 4862): nothing can bind to it.
[[nodiscard]] bool is_usable(const ip_address& own) noexcept {
  if (own.is_v4()) return true;
  const socket_address here(ip_port{own, 0});
  const unique_fd probe(::socket(here.family(), SOCK_DGRAM | SOCK_CLOEXEC, 0));
  return probe && ::bind(probe.get(), here.get(), here.size()) == 0;
}

// Asks for the driver's name, because /sys may show the interfaces of another network namespace.
[[nodiscard]] bool is_bridge(const char* interface) noexcept {
  const unique_fd socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  ethtool_drvinfo driver{};
  driver.cmd = ETHTOOL_GDRVINFO;
  ifreq request{};
  std::strncpy(request.ifr_name, interface, sizeof request.ifr_name - 1);
  request.ifr_data = reinterpret_cast<char*>(&driver);
  return socket && ::ioctl(socket.get(), SIOCETHTOOL, &request) == 0 && std::strcmp(driver.driver, "bridge") == 0;
}

[[nodiscard]] int rank_of(const ifaddrs& which, const ip_address& address) noexcept {
  if (address.is_link_local()) return 2;
  return (which.ifa_flags & IFF_RUNNING) == 0 || is_bridge(which.ifa_name) ? 1 : 0;
}

[[nodiscard]] int bits_in_common(const ip_address& a, const ip_address& b) noexcept {
  int bits = 0;
  for (std::size_t i = 0; i < a.bytes.size(); ++i) {
    const auto differing = static_cast<std::uint8_t>(a.bytes[i] ^ b.bytes[i]);
    bits += std::countl_zero(differing);
    if (differing != 0) break;
  }
  return bits;
}

// Endpoints with smaller distances are tried first.
[[nodiscard]] int distance_to(const std::string& endpoint) noexcept {
  constexpr int most = 32;
  const auto there = numbers_in(endpoint);
  const auto own = there ? source_towards(*there) : std::nullopt;
  if (!own) return 2 * most;
  if (there->address.is_link_local()) return 3 * most;
  if (there->address == *own) return most + 1;
  const int apart = 128 - bits_in_common(there->address, *own);
  return there->address.is_v4() ? apart : apart / 4;
}

}  // namespace

std::optional<route> route_to(const std::string& numeric_tcp_endpoint) {
  const auto there = numbers_in(numeric_tcp_endpoint);
  const auto own = there ? source_towards(*there) : std::nullopt;
  if (!own) return std::nullopt;
  return route{own->text(), !own->is_loopback() && *own != there->address};
}

std::vector<std::string> outside_addresses() {
  ifaddrs* list = nullptr;
  if (getifaddrs(&list) != 0) return {};
  const std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> owner(list, freeifaddrs);
  struct candidate {
    int rank = 0;
    int turn = 0;  // number of better ones of its family
    ip_address address;
  };
  std::vector<candidate> found;
  for (const ifaddrs* each = list; each != nullptr; each = each->ifa_next) {
    if (each->ifa_addr == nullptr || (each->ifa_flags & IFF_UP) == 0) continue;
    const auto here = ip_port::of(*each->ifa_addr);
    if (!here || here->address.is_loopback() || (!here->address.is_v4() && here->address.is_link_local())) continue;
    const auto is_same = [&](const candidate& other) { return other.address == here->address; };
    if (std::none_of(found.begin(), found.end(), is_same) && is_usable(here->address))
      found.push_back({rank_of(*each, here->address), 0, here->address});
  }
  std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.rank < b.rank; });
  int turns[2] = {};
  for (auto& each : found) each.turn = turns[each.address.is_v4()]++;
  std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.turn < b.turn; });
  found.resize(std::min(found.size(), wire::max_tcp_endpoints));
  std::vector<std::string> best;
  for (const auto& each : found) best.push_back(each.address.text());
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
