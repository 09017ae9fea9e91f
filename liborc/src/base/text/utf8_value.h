// The code point of a UTF-8 character.
#pragma once

#include <cstddef>
#include <string_view>

namespace orc::detail {

// Returns the value of the character at the start of `bytes` that utf8_length() found to be this long.
[[nodiscard]] inline char32_t utf8_value(std::string_view bytes, std::size_t length) noexcept {
  const auto at = [&](std::size_t i) { return static_cast<unsigned char>(bytes[i]); };
  if (length == 1) return at(0);
  char32_t value = at(0) & (0x7Fu >> length);
  for (std::size_t i = 1; i < length; ++i) value = (value << 6) | (at(i) & 0x3Fu);
  return value;
}

}  // namespace orc::detail
