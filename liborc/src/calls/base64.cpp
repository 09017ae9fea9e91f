#include "calls/base64.h"

#include <cstddef>
#include <cstdint>

namespace orc::detail {

std::string base64(std::string_view bytes) {
  constexpr char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    const auto byte = [&](std::size_t n) {
      return at + n < bytes.size() ? static_cast<std::uint32_t>(static_cast<unsigned char>(bytes[at + n])) : 0U;
    };
    const std::uint32_t group = byte(0) << 16 | byte(1) << 8 | byte(2);
    for (std::size_t n = 0; n < 4; ++n)
      text.push_back(at + n > bytes.size() ? '=' : digits[group >> (18 - 6 * n) & 63]);
  }
  return text;
}

std::optional<std::string> from_base64(std::string_view text) {
  std::string bytes;
  std::uint32_t group = 0;
  std::size_t digits = 0;
  for (int padding = 0; padding < 2 && text.ends_with('='); ++padding) text.remove_suffix(1);
  if (text.size() % 4 == 1) return std::nullopt;
  for (const char each : text) {
    const auto value = each >= 'A' && each <= 'Z'   ? each - 'A'
                       : each >= 'a' && each <= 'z' ? each - 'a' + 26
                       : each >= '0' && each <= '9' ? each - '0' + 52
                       : each == '+'                ? 62
                       : each == '/'                ? 63
                                                    : -1;
    if (value < 0) return std::nullopt;
    group = group << 6 | static_cast<std::uint32_t>(value);
    if (++digits % 4 != 1) bytes.push_back(static_cast<char>(group >> (6 - 2 * ((digits - 1) % 4)) & 255));
  }
  return bytes;
}

}  // namespace orc::detail
