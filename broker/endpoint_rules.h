// The endpoints that a participant may register: only its own. Subscribers connect to them, so a made-up endpoint would
// send every subscriber to another program's door.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/ip_address.h"
#include "orc/result.h"
#include "peer.h"
#include "wire/control.h"

namespace orc {

struct address_range {
  detail::ip_address network;
  int bits = 128;  // of 128, also for IPv4
  [[nodiscard]] bool contains(const detail::ip_address& address) const noexcept;
  // Parses "192.0.2.0/24", "192.0.2.1", "2001:db8::/32"; nothing: another form.
  [[nodiscard]] static std::optional<address_range> parse(std::string_view text);
};

class endpoint_rules {
 public:
  using time = std::chrono::steady_clock::time_point;

  // `allowed`: addresses that any participant may name, for those behind NAT and those that advertise another one.
  explicit endpoint_rules(std::vector<address_range> allowed) : allowed_(std::move(allowed)) {}

  // Checks that the endpoints of a publication on this connection are the participant's own. The error, errc::refused,
  // says what is allowed.
  [[nodiscard]] result check(const wire::register_topic& what, const peer& by, time now);

 private:
  [[nodiscard]] static result check_ports(const wire::register_topic& what);
  [[nodiscard]] result check_endpoint(const wire::endpoint& which, const wire::id& publication, const peer& by,
                                      time now);
  [[nodiscard]] result check_address(std::string_view address_and_port, const peer& by, time now);
  [[nodiscard]] bool is_of_this_host(const detail::ip_address& address, time now);

  const std::vector<address_range> allowed_;
  std::vector<detail::ip_address> own_;  // of this host, at the last look
  time asked_{};
};

}  // namespace orc
