#include "client_table.h"

#include <algorithm>

#include "base/ip_address.h"

namespace orc {

std::string client_table::name_of(const peer& who) {
  if (who.way == peer::via::ipc) return "user " + std::to_string(who.uid);
  if (who.way == peer::via::broker) return "broker " + who.address;
  const auto address = detail::ip_address::parse(who.address);
  if (!address) return "address " + who.address;
  // Any program of this host can use all loopback addresses.
  if (address->is_loopback()) return "address " + detail::ip_address::loopback_v4().text();
  if (address->is_v4()) return "address " + address->text();
  auto network = *address;
  std::fill(network.bytes.begin() + 8, network.bytes.end(), std::uint8_t{0});  // a host has all addresses of its /64
  return "network " + network.text() + "/64";
}

client& client_table::of(const peer& who) {
  auto name = name_of(who);
  const auto at = clients_.try_emplace(name).first;
  at->second.name = std::move(name);
  return at->second;
}

void client_table::drop_if_empty(client& which) noexcept {
  if (which.participants == 0) clients_.erase(clients_.find(which.name));
}

}  // namespace orc
