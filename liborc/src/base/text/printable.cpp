#include "base/text/printable.h"

#include <algorithm>

#include "base/text/utf8_value.h"

namespace orc::detail {
namespace {

constexpr char hex_digits[] = "0123456789abcdef";

// True for characters that move the cursor, end the line, or reorder text.
bool is_harmful(char32_t c) noexcept {
  return c < 0x20 || (c >= 0x7F && c < 0xA0) || (c >= 0x2028 && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069);
}

}  // namespace

std::size_t utf8_length(std::string_view bytes) noexcept {
  if (bytes.empty()) return 0;
  const auto first = static_cast<unsigned char>(bytes.front());
  if (first < 0x80) return 1;
  const std::size_t length = first >= 0xF0 ? 4u : first >= 0xE0 ? 3u : 2u;
  if (first < 0xC2 || first > 0xF4 || bytes.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((static_cast<unsigned char>(bytes[i]) & 0xC0u) != 0x80u) return 0;
  }
  const char32_t value = utf8_value(bytes, length);
  if (length == 3 && (value < 0x800 || (value >= 0xD800 && value < 0xE000))) return 0;
  if (length == 4 && (value < 0x10000 || value > 0x10FFFF)) return 0;
  return length;
}

bool is_printable(std::string_view bytes) noexcept {
  if (bytes.empty()) return false;
  while (!bytes.empty()) {
    const std::size_t length = utf8_length(bytes);
    if (length == 0) return false;
    const char32_t c = utf8_value(bytes, length);
    if (is_harmful(c) && c != '\n' && c != '\t' && c != '\r') return false;
    bytes.remove_prefix(length);
  }
  return true;
}

std::string escaped(std::string_view bytes, backslashes how) {
  std::string text;
  text.reserve(bytes.size());
  while (!bytes.empty()) {
    const std::size_t length = utf8_length(bytes);
    const std::size_t taken = std::max<std::size_t>(length, 1);
    if (bytes.front() == '\\' && how == backslashes::doubled) {
      text += "\\\\";
    } else if (bytes.front() == '\n') {
      text += "\\n";
    } else if (bytes.front() == '\t') {
      text += "\\t";
    } else if (bytes.front() == '\r') {
      text += "\\r";
    } else if (length == 0 || is_harmful(utf8_value(bytes, length))) {
      for (std::size_t i = 0; i < taken; ++i) {
        const auto value = static_cast<unsigned char>(bytes[i]);
        text += "\\x";
        text += hex_digits[value >> 4];
        text += hex_digits[value & 15];
      }
    } else {
      text += bytes.substr(0, length);
    }
    bytes.remove_prefix(taken);
  }
  return text;
}

}  // namespace orc::detail
