#include "bytes/utf8.h"

#include <cstddef>

namespace orc::recording::detail {
namespace {

// The length of the character at the start of `text`; 0: there is none.
std::size_t length_of(std::string_view text) noexcept {
  const auto at = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned first = at(0);
  if (first < 0x80) return 1;
  const std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i)
    if ((at(i) & 0xC0U) != 0x80) return 0;
  // No longer forms than needed, no surrogates, nothing beyond U+10FFFF.
  const unsigned second = at(1);
  const bool is_wrong = (first == 0xE0 && second < 0xA0) || (first == 0xED && second > 0x9F) ||
                        (first == 0xF0 && second < 0x90) || (first == 0xF4 && second > 0x8F);
  return is_wrong ? 0 : length;
}

}  // namespace

std::string utf8_of(std::string_view text) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string made;
  while (!text.empty()) {
    const std::size_t length = length_of(text);
    if (length != 0) {
      made += text.substr(0, length);
      text.remove_prefix(length);
      continue;
    }
    const auto byte = static_cast<unsigned char>(text.front());
    for (const char c : {'\\', 'x', digits[byte >> 4U], digits[byte & 0xFU]}) made += c;
    text.remove_prefix(1);
  }
  return made;
}

std::map<std::string, std::string> utf8_of(const std::map<std::string, std::string>& entries) {
  std::map<std::string, std::string> made;
  for (const auto& [key, value] : entries) made[utf8_of(key)] = utf8_of(value);
  return made;
}

}  // namespace orc::recording::detail
