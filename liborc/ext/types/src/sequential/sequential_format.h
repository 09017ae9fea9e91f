// What LCM and CDR have in common, and where they differ. Both write one field behind the other.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

namespace orc::types::detail {

struct sequential_format {
  std::string_view name = {};
  bool big_endian = true;
  std::size_t alignment = 1;  // cdr: numbers at multiples of their size up to this, counted from behind the header
  bool cdr = false;
  bool sized_arrays = false;  // XCDR2: the size in bytes precedes an array whose elements are no numbers

  [[nodiscard]] bool swapped() const noexcept { return big_endian != (std::endian::native == std::endian::big); }
};

// lcm: the fingerprint; cdr: the encapsulation.
inline constexpr std::size_t lcm_header = 8;
inline constexpr std::size_t cdr_header = 4;

template <class T>
[[nodiscard]] T load_ordered(const std::byte* from, bool big_endian) noexcept {
  T made = 0;
  for (std::size_t i = 0; i < sizeof(T); ++i) {
    const std::size_t at = big_endian ? i : sizeof(T) - 1 - i;
    made = static_cast<T>(static_cast<T>(made << 8U) | std::to_integer<T>(from[at]));
  }
  return made;
}

template <class T>
void store_ordered(T number, bool big_endian, std::byte* to) noexcept {
  for (std::size_t i = 0; i < sizeof(T); ++i) {
    const std::size_t shift = 8 * (big_endian ? sizeof(T) - 1 - i : i);
    to[i] = static_cast<std::byte>(static_cast<unsigned>(number >> shift) & 0xffU);
  }
}

// Bytes to skip before a number of `size` bytes, `at` bytes behind the header.
[[nodiscard]] inline std::size_t padding(const sequential_format& format, std::size_t at, std::size_t size) noexcept {
  const std::size_t to = std::min(size, format.alignment);
  return to > 1 ? (to - at % to) % to : 0;
}

}  // namespace orc::types::detail
