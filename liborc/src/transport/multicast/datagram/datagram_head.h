// The bytes in front of the payload of a datagram.
#pragma once

#include <array>
#include <cstddef>

namespace orc::detail::multicast {

// Not initialised: a batch has many of them, and mostly uses one.
struct datagram_head {
  static constexpr std::size_t most = 104;  // of the longest format
  std::array<std::byte, most> bytes;
  std::size_t size;
};

}  // namespace orc::detail::multicast
