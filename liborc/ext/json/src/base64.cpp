#include "json/base64.h"

#include <array>
#include <cstddef>
#include <cstdint>

namespace orc::detail {

namespace {

constexpr std::string_view letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::uint8_t no_letter = 64;

constexpr std::array<std::uint8_t, 256> values = [] {
  std::array<std::uint8_t, 256> made{};
  made.fill(no_letter);
  for (std::size_t i = 0; i < letters.size(); ++i)
    made[static_cast<unsigned char>(letters[i])] = static_cast<std::uint8_t>(i);
  return made;
}();

}  // namespace

std::string base64(std::string_view bytes) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (; !bytes.empty(); bytes.remove_prefix(bytes.size() < 3 ? bytes.size() : 3)) {
    std::uint32_t group = 0;
    for (std::size_t i = 0; i < 3; ++i)
      group = group << 8 | (i < bytes.size() ? static_cast<unsigned char>(bytes[i]) : 0U);
    text += letters[group >> 18];
    text += letters[group >> 12 & 63];
    text += bytes.size() > 1 ? letters[group >> 6 & 63] : '=';
    text += bytes.size() > 2 ? letters[group & 63] : '=';
  }
  return text;
}

std::optional<std::string> from_base64(std::string_view text) {
  for (int padding = 0; padding < 2 && text.ends_with('='); ++padding) text.remove_suffix(1);
  if (text.size() % 4 == 1) return std::nullopt;
  std::string made;
  made.reserve(text.size() / 4 * 3 + 2);
  std::uint32_t group = 0;
  unsigned bits = 0;
  for (const char c : text) {
    const std::uint8_t value = values[static_cast<unsigned char>(c)];
    if (value == no_letter) return std::nullopt;
    group = (group << 6 | value) & 0xffffff;
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    made += static_cast<char>(group >> bits & 0xff);
  }
  return made;
}

}  // namespace orc::detail
