// Each client's share of the broker's tables. A client is a user of this host (ipc) or an address (tcp; IPv6: its /64
// network; all loopback addresses are one), with all its connections and participants. One client may have half of each
// table, so that others still find room. Peer brokers are clients too. Those that are discovered, which anyone on the
// network can be, are one client for each address, and share one half among them.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>

#include "broker/connections/peer.h"

namespace orc {

struct client {
  std::string name;         // "user 1000", "address 192.0.2.1"
  bool discovered = false;  // peer brokers that their beacons named
  std::size_t participants = 0;
  std::size_t topics = 0;
  std::size_t subscriptions = 0;
  std::size_t description_bytes = 0;
};

class client_table {
 public:
  [[nodiscard]] static std::string name_of(const peer& who);
  // Half of what the others leave of a table, at least one of the rest. So there is always room, however many are
  // greedy.
  [[nodiscard]] static constexpr std::size_t share(std::size_t limit, std::size_t of_others) {
    return of_others < limit ? (limit - of_others + 1) / 2 : 0;
  }

  // Seven eighths of what the others leave, where the publishers of one topic are mostly one client's.
  [[nodiscard]] static constexpr std::size_t most(std::size_t limit, std::size_t of_others) {
    const std::size_t left = of_others < limit ? limit - of_others : 0;
    return left - left / 8;
  }

  // What all clients that are discovered brokers have of a table. There are at most wire::max_peers.
  [[nodiscard]] std::size_t used_by_discovered(std::size_t client::*of) const noexcept;

  // Returns the client that `who` belongs to. Its address stays valid until it is dropped.
  [[nodiscard]] client& of(const peer& who);
  // Forgets a client without participants.
  void drop_if_empty(client& which) noexcept;

 private:
  std::map<std::string, client, std::less<>> clients_;
};

}  // namespace orc
