// The network of a multicast topic, in LCM's form:
//   udpm://239.255.76.67:7667?ttl=0&recv_buf_size=4194304&interface=lo&fec=20
// Group and port are LCM's network (Huang, Olson, Moore: LCM, section 3.3). Every parameter may be left out. ORC's
// programs, but not LCM's, take IPv6 groups as well: udpm://[ff15::76:67]:7667?ttl=1&interface=eth0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/expected.h"
#include "base/network/ip_address.h"

namespace orc::wire {

struct multicast_url {
  static constexpr std::size_t default_receive_buffer = 4 * 1024 * 1024;
  static constexpr std::size_t default_reassembly = 256 * 1024 * 1024;

  detail::ip_address group;
  std::uint16_t port = 7667;
  int ttl = 0;                                          // hops: 0 stays on this host
  std::size_t receive_buffer = default_receive_buffer;  // recv_buf_size: bytes the kernel keeps for a subscription
  std::size_t reassembly = default_reassembly;          // bytes of incomplete messages a subscription holds at most
  std::string interface = {};                           // name or an address of it; empty: the kernel's route decides
  int fec = 0;                                          // percent of parity; 0: none, LCM's wire format
  // Only in the topic map: where the publication takes reports, and the port at the same address from which it sends
  // samples (0: not given).
  std::optional<detail::ip_port> from = {};  // of the group's family; no scope
  std::uint16_t source = 0;

  // The default, and the meaning of an empty text.
  static constexpr std::string_view usual = "udpm://239.255.76.67:7667?ttl=0";
  // The error says what is wrong with the text.
  [[nodiscard]] static detail::expected<multicast_url> parse(std::string_view text);
  // The text of the environment, and the variable that has it: ORC_MULTICAST, else LCM's LCM_DEFAULT_URL. Empty:
  // neither is set.
  struct setting {
    std::string text;
    std::string_view variable;
  };
  [[nodiscard]] static setting from_environment();
  [[nodiscard]] std::string text() const;

  // An IPv6 group of which each interface has its own, ff01:: and ff02:: (RFC 4291, section 2.7): `interface` is named,
  // or the ttl is 0, which means lo.
  [[nodiscard]] bool is_of_one_interface() const noexcept;

 private:
  [[nodiscard]] result check() const;
};

}  // namespace orc::wire
