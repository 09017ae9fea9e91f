#include "client_table.h"

#include <arpa/inet.h>

#include <algorithm>

namespace orc {

std::string client_table::name_of(const peer& who) {
  if (who.way == peer::via::ipc) return "user " + std::to_string(who.uid);
  in6_addr six{};
  auto address = who.address;
  if (inet_pton(AF_INET6, address.c_str(), &six) == 1 && !IN6_IS_ADDR_LOOPBACK(&six)) {
    char text[INET6_ADDRSTRLEN];
    if (!IN6_IS_ADDR_V4MAPPED(&six)) {
      std::fill(six.s6_addr + 8, six.s6_addr + 16, std::uint8_t{0});  // a host has all addresses of its /64
      return "network " + std::string(inet_ntop(AF_INET6, &six, text, sizeof text)) + "/64";
    }
    address = inet_ntop(AF_INET, six.s6_addr + 12, text, sizeof text);
  }
  // Any program of this host can use all loopback addresses.
  const bool loopback = IN6_IS_ADDR_LOOPBACK(&six) || address.starts_with("127.");
  return "address " + (loopback ? "127.0.0.1" : address);
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
