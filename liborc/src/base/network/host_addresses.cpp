#include "base/network/host_addresses.h"

#include <netdb.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <memory>

#include "base/files/unique_fd.h"

namespace orc::detail {

namespace {

constexpr std::string_view scheme = "tcp://";

// Without a port there is no name either: libzmq reports the problem of such an endpoint.
[[nodiscard]] std::string_view host_in(std::string_view endpoint) {
  const auto colon = endpoint.rfind(':');
  if (!endpoint.starts_with(scheme) || colon < scheme.size() || colon + 1 == endpoint.size()) return {};
  return endpoint.substr(scheme.size(), colon - scheme.size());
}

}  // namespace

std::vector<ip_address> addresses_of_host(const std::string& name, int* problem) {
  if (const auto number = ip_address::parse(name)) return {*number};
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int result = ::getaddrinfo(name.c_str(), nullptr, &hints, &found);
  if (problem != nullptr) *problem = result;
  if (result != 0) return {};
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owner(found, ::freeaddrinfo);
  std::vector<ip_address> all;
  for (const auto* each = found; each != nullptr && all.size() < max_addresses_of_host; each = each->ai_next) {
    const auto here = ip_port::of(*each->ai_addr);
    if (here && std::find(all.begin(), all.end(), here->address) == all.end()) all.push_back(here->address);
  }
  // For localhost 127.0.0.1 comes first. Brokers listen there by default, and another user could take its port at ::1.
  std::stable_partition(all.begin(), all.end(), [](const auto& each) { return each.is_v4() || !each.is_loopback(); });
  // A publisher can offer nothing from a link-local address of IPv6.
  std::stable_partition(all.begin(), all.end(), [](const auto& each) { return each.is_v4() || !each.is_link_local(); });
  return all;
}

std::optional<ip_port> numbers_in(std::string_view endpoint) {
  if (!endpoint.starts_with(scheme)) return std::nullopt;
  return ip_port::parse(endpoint.substr(scheme.size()));
}

bool names_a_host(std::string_view endpoint) {
  const auto host = host_in(endpoint);
  return !host.empty() && host.find_first_of("[]:*") == std::string_view::npos && !numbers_in(endpoint);
}

bool has_own_address(int socket) noexcept {
  socket_address own;
  if (::getsockname(socket, own.get(), own.room()) != 0) return true;
  const auto here = own.value();
  if (!here) return true;
  const socket_address free_port(ip_port{here->address, 0});
  const unique_fd probe(::socket(free_port.family(), SOCK_DGRAM | SOCK_CLOEXEC, 0));
  return !probe || ::bind(probe.get(), free_port.get(), free_port.size()) == 0 || errno != EADDRNOTAVAIL;
}

std::vector<std::string> numeric_endpoints(const std::string& endpoint, int* problem) {
  if (!names_a_host(endpoint)) return {endpoint};
  const std::string port = endpoint.substr(endpoint.rfind(':'));
  std::vector<std::string> all;
  for (const auto& each : addresses_of_host(std::string(host_in(endpoint)), problem))
    all.push_back(std::string(scheme) + each.in_url() + port);
  return all;
}

}  // namespace orc::detail
