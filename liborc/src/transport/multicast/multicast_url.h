// Where a multicast topic lives, written as LCM writes it:
//   udpm://239.255.76.67:7667?ttl=0&recv_buf_size=4194304&interface=lo&fec=20
// Group and port are LCM's network (Huang, Olson, Moore: LCM, section 3.3); every parameter may be left out.
#pragma once

#include <netinet/in.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "orc/result.h"

namespace orc::detail {

struct multicast_url {
  static constexpr std::size_t default_receive_buffer = 4 * 1024 * 1024;
  static constexpr std::size_t default_reassembly = 256 * 1024 * 1024;

  in_addr group{};
  std::uint16_t port = 7667;
  int ttl = 0;                                          // hops: 0 stays on this host
  std::size_t receive_buffer = default_receive_buffer;  // recv_buf_size: bytes the kernel keeps for a subscription
  std::size_t reassembly = default_reassembly;          // bytes of incomplete messages a subscription holds at most
  std::string interface = {};                           // name or IPv4 address; empty: the kernel's route decides
  int fec = 0;                                          // percent of parity; 0: none, LCM's wire format
  // Only in the topic map: where the publication takes what its subscribers report, and the port at the same address
  // that it sends samples from (0: not said).
  std::optional<sockaddr_in> from = {};
  std::uint16_t source = 0;

  // The default, and what an empty text stands for.
  static constexpr std::string_view usual = "udpm://239.255.76.67:7667?ttl=0";
  [[nodiscard]] static std::variant<multicast_url, error> parse(std::string_view text);
  // What the environment says, and the variable that says it: ORC_MULTICAST, else LCM's LCM_DEFAULT_URL. Empty:
  // nothing.
  struct setting {
    std::string text;
    std::string_view variable;
  };
  [[nodiscard]] static setting from_environment();
  [[nodiscard]] std::string text() const;

  [[nodiscard]] sockaddr_in group_address() const noexcept;
};

// Fills in which interface `name`, a name or an IPv4 address, is; empty: the kernel's route decides. False: there is
// none.
[[nodiscard]] bool find_interface(const std::string& name, ip_mreqn& to) noexcept;

// "192.0.2.1:7667"
[[nodiscard]] std::string to_string(const sockaddr_in& address);

}  // namespace orc::detail
