#include "client_table.h"

#include <arpa/inet.h>

#include <algorithm>

namespace orc {

std::string client_table::name_of(const peer& who) {
  if (who.way == peer::via::ipc) return "user " + std::to_string(who.uid);
  in6_addr network{};
  char text[INET6_ADDRSTRLEN];
  if (inet_pton(AF_INET6, who.address.c_str(), &network) != 1) return "address " + who.address;
  std::fill(network.s6_addr + 8, network.s6_addr + 16, std::uint8_t{0});  // a host has all addresses of its /64
  return "network " + std::string(inet_ntop(AF_INET6, &network, text, sizeof text)) + "/64";
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
