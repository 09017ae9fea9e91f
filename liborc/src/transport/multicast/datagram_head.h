// What stands in front of the payload of a datagram.
#pragma once

#include <array>
#include <cstddef>

namespace orc::detail::multicast {

struct datagram_head {
  static constexpr std::size_t most = 104;  // the longest of all formats
  std::array<std::byte, most> bytes;
  std::size_t size = 0;
};

}  // namespace orc::detail::multicast
