// What stands in front of the payload of a datagram.
#pragma once

#include <array>
#include <cstddef>

namespace orc::detail::multicast {

// Left as it is until it is written: a batch has many of them, of which one is used most of the time.
struct datagram_head {
  static constexpr std::size_t most = 104;  // the longest of all formats
  std::array<std::byte, most> bytes;
  std::size_t size;
};

}  // namespace orc::detail::multicast
