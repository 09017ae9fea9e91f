// Which endpoints a participant may register: only what is its own. Whoever requests the topic connects to them, so
// that a made-up one would make every subscriber knock at somebody else's door.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "peer.h"
#include "wire/control.h"
#include "wire/ip_address.h"

namespace orc {

struct address_range {
  wire::ip_address network;
  int bits = 128;  // of 128, also of IPv4
  [[nodiscard]] bool contains(const wire::ip_address& address) const noexcept;
  // "192.0.2.0/24", "192.0.2.1", "2001:db8::/32"; nothing: not that.
  [[nodiscard]] static std::optional<address_range> parse(std::string_view text);
};

class endpoint_rules {
 public:
  using time = std::chrono::steady_clock::time_point;

  // `allowed`: addresses that any participant may name, for those behind NAT and those that advertise another one.
  explicit endpoint_rules(std::vector<address_range> allowed) : allowed_(std::move(allowed)) {}

  // What is wrong with the endpoints of a publication that comes by this connection, and what is allowed; empty: they
  // are its own.
  [[nodiscard]] std::string problem(const wire::register_topic& what, const peer& by, time now);

 private:
  [[nodiscard]] static std::string problem_of_doors(const wire::register_topic& what);
  [[nodiscard]] std::string problem_of(const wire::endpoint& which, const wire::id& publication, const peer& by,
                                       time now);
  [[nodiscard]] std::string problem_of_address(std::string_view address_and_port, const peer& by, time now);
  [[nodiscard]] bool is_of_this_host(const wire::ip_address& address, time now);

  const std::vector<address_range> allowed_;
  std::vector<wire::ip_address> own_;  // of this host, when it was last asked
  time asked_{};
};

}  // namespace orc
