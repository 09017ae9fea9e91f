#include "tools/orc/text.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>

#include "base/network/ip_address.h"

namespace orc::cli {

namespace {

constexpr char hex_digits[] = "0123456789abcdef";

int digit_value(char c) noexcept {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// Of a text in UTF-8: "µs" has two.
std::size_t characters_in(std::string_view text) noexcept {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0u) != 0x80u; }));
}

}  // namespace

std::string hex(std::string_view bytes) {
  std::string text;
  text.reserve(2 * bytes.size());
  for (const char c : bytes) {
    const auto value = static_cast<unsigned char>(c);
    text += hex_digits[value >> 4];
    text += hex_digits[value & 15];
  }
  return text;
}

std::string text_of(in_addr address) { return detail::ip_address::of(address).text(); }

std::optional<std::string> from_hex(std::string_view digits) {
  std::string bytes;
  while (!digits.empty()) {
    if (std::string_view(" \t\r\n:,").find(digits.front()) != std::string_view::npos) {
      digits.remove_prefix(1);
      continue;
    }
    if (digits.starts_with("0x") || digits.starts_with("0X")) digits.remove_prefix(2);
    if (digits.size() < 2) return std::nullopt;
    const int high = digit_value(digits[0]);
    const int low = digit_value(digits[1]);
    if (high < 0 || low < 0) return std::nullopt;
    bytes += static_cast<char>(high * 16 + low);
    digits.remove_prefix(2);
  }
  return bytes;
}

std::string fixed(double number, int decimals) {
  char text[64];
  const int length = std::snprintf(text, sizeof text, "%.*f", decimals, number);
  return {text, static_cast<std::size_t>(std::clamp<int>(length, 0, sizeof text - 1))};
}

std::string duration_text(std::int64_t ns) {
  const auto value = static_cast<double>(ns);
  const double size = value < 0 ? -value : value;
  if (size < 1e6) return fixed(value / 1e3, 1) + " µs";
  if (size < 1e9) return fixed(value / 1e6, 1) + " ms";
  return fixed(value / 1e9, 1) + " s";
}

std::string counted(std::uint64_t count, std::string_view what) {
  return std::to_string(count) + " " + std::string(what) + (count == 1 ? "" : "s");
}

std::string size_text(double bytes) {
  if (bytes < 1e3) return fixed(bytes, 0) + " B";
  if (bytes < 1e6) return fixed(bytes / 1e3, 1) + " kB";
  if (bytes < 1e9) return fixed(bytes / 1e6, 1) + " MB";
  return fixed(bytes / 1e9, 1) + " GB";
}

std::string table(std::span<const std::vector<std::string>> rows) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], characters_in(row[i]));
  }
  std::string text;
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      text += row[i];
      if (i + 1 < row.size()) text.append(widths[i] - characters_in(row[i]) + 2, ' ');
    }
    text += '\n';
  }
  return text;
}

}  // namespace orc::cli
