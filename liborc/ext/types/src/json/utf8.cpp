#include "json/utf8.h"

#include <cstddef>

namespace orc::types::detail {
namespace {

constexpr std::uint32_t replacement = 0xfffd;

// Characters on which terminals act: C1, the separators of lines and paragraphs, and those that turn the direction of
// text.
bool is_harmful(std::uint32_t character) noexcept {
  return (character >= 0x80 && character <= 0x9f) || (character >= 0x2028 && character <= 0x202e) ||
         (character >= 0x2066 && character <= 0x2069);
}

void append_escape(std::uint32_t character, std::string& to) {
  constexpr char digits[] = "0123456789abcdef";
  to += "\\u";
  for (int shift = 12; shift >= 0; shift -= 4) to += digits[character >> shift & 0xfU];
}

}  // namespace

std::uint32_t next_character(std::string_view text, std::size_t& at, bool& valid) {
  const auto byte = [text](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(at);
  valid = true;
  if (first < 0x80) return ++at, first;
  const std::size_t size = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  std::uint32_t character = first & (0x7fU >> size);
  bool good = first >= 0xc2 && first <= 0xf4 && size <= text.size() - at;
  for (std::size_t i = 1; good && i < size; ++i) {
    good = (byte(at + i) & 0xc0U) == 0x80U;
    character = character << 6U | (byte(at + i) & 0x3fU);
  }
  constexpr std::uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  good = good && character >= least[size] && character <= 0x10ffff && (character < 0xd800 || character > 0xdfff);
  if (!good) {
    ++at;
    valid = false;
    return replacement;
  }
  at += size;
  return character;
}

void append_utf8(std::uint32_t character, std::string& to) {
  if (character > 0x10ffff || (character >= 0xd800 && character <= 0xdfff)) character = replacement;
  const auto put = [&to](std::uint32_t byte) { to += static_cast<char>(byte); };
  if (character < 0x80) return put(character);
  if (character < 0x800) {
    put(0xc0U | character >> 6U);
  } else {
    if (character < 0x10000) {
      put(0xe0U | character >> 12U);
    } else {
      put(0xf0U | character >> 18U);
      put(0x80U | (character >> 12U & 0x3fU));
    }
    put(0x80U | (character >> 6U & 0x3fU));
  }
  put(0x80U | (character & 0x3fU));
}

void append_json_text(std::string_view text, std::string& to) {
  for (std::size_t at = 0; at < text.size();) {
    const char each = text[at];
    const auto byte = static_cast<unsigned char>(each);
    if (each == '"' || each == '\\') {
      to += '\\';
      to += each;
      ++at;
    } else if (byte < 0x20 || byte == 0x7f) {
      append_escape(byte, to);
      ++at;
    } else if (byte < 0x80) {
      to += each;
      ++at;
    } else {
      const std::size_t start = at;
      bool valid = false;
      const std::uint32_t character = next_character(text, at, valid);
      if (is_harmful(character)) {
        append_escape(character, to);
      } else if (valid) {
        to += text.substr(start, at - start);
      } else {
        append_utf8(character, to);
      }
    }
  }
}

}  // namespace orc::types::detail
