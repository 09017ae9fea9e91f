// Big-endian integers, as in LCM's datagrams.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace orc::detail {

template <typename Integer>
void put_big_endian(std::byte* at, Integer value) noexcept {
  auto rest = static_cast<std::make_unsigned_t<Integer>>(value);
  for (std::size_t i = sizeof value; i-- > 0;) {
    at[i] = static_cast<std::byte>(rest & 0xff);
    if constexpr (sizeof value > 1) rest = static_cast<decltype(rest)>(rest >> 8);
  }
}

template <typename Integer>
[[nodiscard]] Integer get_big_endian(const std::byte* at) noexcept {
  std::make_unsigned_t<Integer> value = 0;
  for (std::size_t i = 0; i < sizeof value; ++i)
    value = static_cast<decltype(value)>((std::uint64_t{value} << 8) | static_cast<std::uint64_t>(at[i]));
  return static_cast<Integer>(value);
}

}  // namespace orc::detail
