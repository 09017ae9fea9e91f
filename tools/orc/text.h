// Bytes and numbers as text for people and terminals.
#pragma once

#include <netinet/in.h>

#include <array>
#include <charconv>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/text/printable.h"

namespace orc::cli {

// What others send (samples, program names, reasons) must go through escaped() before it is printed.
using detail::escaped;
using detail::is_printable;
using detail::utf8_length;

[[nodiscard]] std::string hex(std::string_view bytes);
// Hexadecimal digits with optional white space, colons and 0x between bytes. Empty optional: not that.
[[nodiscard]] std::optional<std::string> from_hex(std::string_view digits);

[[nodiscard]] inline std::string_view as_text(std::span<const std::byte> bytes) noexcept {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

[[nodiscard]] std::string text_of(in_addr address);  // "192.0.2.1"
[[nodiscard]] std::string fixed(double number, int decimals);
// With as few digits as tell it from its neighbours.
template <class Number>
[[nodiscard]] std::string shortest(Number number) {
  std::array<char, 64> digits;
  const auto written = std::to_chars(digits.data(), digits.data() + digits.size(), number);
  return {digits.data(), written.ptr};
}
[[nodiscard]] std::string duration_text(std::int64_t ns);                       // "45.2 µs", "3.1 s"
[[nodiscard]] std::string size_text(double bytes);                              // "980 B", "1.2 MB"
[[nodiscard]] std::string counted(std::uint64_t count, std::string_view what);  // "1 row", "2 rows"

// A table with columns as wide as their widest cell; the last column is not padded.
[[nodiscard]] std::string table(std::span<const std::vector<std::string>> rows);

}  // namespace orc::cli
