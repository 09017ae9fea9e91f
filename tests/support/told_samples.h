// Samples that tell from which life of a publisher they are, which of its samples, and whether every byte is in place.
#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

#include "orc/message.h"

namespace orc::test {

struct told {
  std::uint32_t life = 0;
  std::uint32_t number = 0;

  static constexpr std::size_t smallest = 10;

  // Fills a sample of at least `smallest` bytes.
  void write(unsigned char* to, std::size_t size) const {
    std::memcpy(to, this, 8);
    std::size_t at = 8;
    for (std::uint64_t word = first(size); at < size; word += step) {
      const std::size_t part = size - at < 8 ? size - at : 8;
      std::memcpy(to + at, &word, part);
      at += part;
    }
  }
  // False: not a byte may differ.
  [[nodiscard]] static bool read(const message& from, told& out) { return read(from.data(), from.size(), out); }
  [[nodiscard]] static bool read(const void* data, std::size_t size, told& out) {
    const auto* const bytes = static_cast<const unsigned char*>(data);
    if (size < smallest) return false;
    std::memcpy(&out, bytes, 8);
    std::size_t at = 8;
    for (std::uint64_t word = out.first(size); at < size; word += step) {
      const std::size_t part = size - at < 8 ? size - at : 8;
      if (std::memcmp(bytes + at, &word, part) != 0) return false;
      at += part;
    }
    return true;
  }

 private:
  static constexpr std::uint64_t step = 0xD1B54A32D192ED03u;
  [[nodiscard]] std::uint64_t first(std::size_t size) const {
    const std::uint64_t both = (std::uint64_t{life} << 32) + number;
    return (both + 1) * 0x9E3779B97F4A7C15u + size;
  }
};
static_assert(sizeof(told) == 8);

}  // namespace orc::test
