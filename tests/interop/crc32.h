// The CRC of zlib and Ethernet, which the peer in Python has in its library.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace orc::test {

[[nodiscard]] inline std::uint32_t crc32(const void* data, std::size_t size) {
  static constexpr auto table = [] {
    std::array<std::uint32_t, 256> of{};
    for (std::uint32_t i = 0; i < 256; ++i) {
      std::uint32_t rest = i;
      for (int bit = 0; bit < 8; ++bit) rest = (rest >> 1) ^ ((rest & 1) != 0 ? 0xEDB88320u : 0);
      of[i] = rest;
    }
    return of;
  }();
  const auto* at = static_cast<const unsigned char*>(data);
  std::uint32_t rest = 0xFFFFFFFFu;
  for (std::size_t i = 0; i < size; ++i) rest = (rest >> 8) ^ table[(rest ^ at[i]) & 0xFF];
  return ~rest;
}

}  // namespace orc::test
