#include "broker/map/client_table.h"

#include <algorithm>
#include <string_view>

#include "base/network/ip_address.h"

namespace orc {

namespace {

constexpr std::string_view discovered_at = "discovered brokers at ";

std::string place_of(const std::string& text) {
  const auto address = detail::ip_address::parse(text);
  if (!address) return "address " + text;
  // Any program of this host can use all loopback addresses.
  if (address->is_loopback()) return "address " + detail::ip_address::loopback_v4().text();
  if (address->is_v4()) return "address " + address->text();
  auto network = *address;
  std::fill(network.bytes.begin() + 8, network.bytes.end(), std::uint8_t{0});  // a host has all addresses of its /64
  return "network " + network.text() + "/64";
}

// One host has many ports.
std::string without_port(std::string_view endpoint) {
  const auto where = detail::ip_port::parse(endpoint.substr(endpoint.rfind('/') + 1));
  return where ? where->address.text() : std::string(endpoint);
}

}  // namespace

std::string client_table::name_of(const peer& who) {
  switch (who.way) {
    case peer::via::ipc: return "user " + std::to_string(who.uid);
    case peer::via::broker: return "broker " + who.address;
    case peer::via::discovered: return std::string(discovered_at) + place_of(without_port(who.address));
    case peer::via::tcp: break;
  }
  return place_of(who.address);
}

std::size_t client_table::used_by_discovered(std::size_t client::*of) const noexcept {
  std::size_t sum = 0;
  for (auto at = clients_.lower_bound(discovered_at); at != clients_.end() && at->first.starts_with(discovered_at);
       ++at)
    sum += at->second.*of;
  return sum;
}

client& client_table::of(const peer& who) {
  auto name = name_of(who);
  const auto at = clients_.try_emplace(name).first;
  at->second.name = std::move(name);
  at->second.discovered = who.way == peer::via::discovered;
  return at->second;
}

void client_table::drop_if_empty(client& which) noexcept {
  if (which.participants == 0) clients_.erase(clients_.find(which.name));
}

}  // namespace orc
