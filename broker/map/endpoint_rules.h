// The endpoints that a participant may register: only its own. Subscribers connect to them, so a made-up endpoint would
// send every subscriber to another program's door.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/network/ip_address.h"
#include "broker/connections/peer.h"
#include "orc/result.h"
#include "wire/control.h"

namespace orc {

struct address_range {
  detail::ip_address network;
  int bits = 128;  // of 128, also for IPv4
  [[nodiscard]] bool contains(const detail::ip_address& address) const noexcept;
  // Parses "192.0.2.0/24", "192.0.2.1", "2001:db8::/32"; nothing: another form.
  [[nodiscard]] static std::optional<address_range> parse(std::string_view text);
};

// Whether another host can reach an endpoint: tcp or multicast at an address that is neither a wildcard nor of one link
// only. `same_host`: whether another broker on this host can, which loopback addresses and a ttl of 0 allow too.
[[nodiscard]] bool is_reachable(const wire::endpoint& which, bool same_host);

class endpoint_rules {
 public:
  using time = std::chrono::steady_clock::time_point;

  // `allowed`: addresses that any participant may name, for those behind NAT and those that advertise another one.
  explicit endpoint_rules(std::vector<address_range> allowed) : allowed_(std::move(allowed)) {}

  // Checks that the endpoints of a publication on this connection are the participant's own. The error, errc::refused,
  // says what is allowed.
  [[nodiscard]] result check(const wire::register_topic& what, const peer& by, time now);
  // Checks endpoints that a peer broker reports. `same_host`: it runs on this host.
  [[nodiscard]] static result check_peer(const std::vector<wire::endpoint>& endpoints, bool same_host);
  [[nodiscard]] bool is_of_this_host(const detail::ip_address& address, time now);

 private:
  [[nodiscard]] static result check_ports(const std::vector<wire::endpoint>& endpoints);
  [[nodiscard]] result check_endpoint(const wire::endpoint& which, const wire::id& publication, const peer& by,
                                      time now);
  [[nodiscard]] result check_source(std::string_view address_and_port, const peer& by, time now);
  [[nodiscard]] result check_address(std::string_view address_and_port, const peer& by, time now);

  const std::vector<address_range> allowed_;
  std::vector<detail::ip_address> own_;  // of this host, at the last look
  time asked_{};
};

}  // namespace orc
