// Bytes and numbers as text for people and terminals.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace orc::cli {

// Length of the valid UTF-8 character that `bytes` begins with; 0 when it begins with none (RFC 3629: no overlong
// forms, no surrogates, at most U+10FFFF).
[[nodiscard]] std::size_t utf8_length(std::string_view bytes) noexcept;

// Valid UTF-8 without control characters other than tab, line feed and carriage return; not empty.
[[nodiscard]] bool is_printable(std::string_view bytes) noexcept;

// On one line and harmless on a terminal: control characters and invalid bytes as \n, \t, \xNN; backslash doubled.
// What others send (samples, program names, reasons) must go through this before it is printed.
[[nodiscard]] std::string escaped(std::string_view bytes);

[[nodiscard]] std::string hex(std::string_view bytes);
// Hexadecimal digits with optional white space, colons and 0x between bytes. Empty optional: not that.
[[nodiscard]] std::optional<std::string> from_hex(std::string_view digits);

[[nodiscard]] inline std::string_view as_text(std::span<const std::byte> bytes) noexcept {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

[[nodiscard]] std::string fixed(double number, int decimals);
[[nodiscard]] std::string duration_text(std::int64_t ns);  // "45.2 us", "3.1 s"
[[nodiscard]] std::string size_text(double bytes);         // "980 B", "1.2 MB"

// A table with columns as wide as their widest cell; the last column is not padded.
[[nodiscard]] std::string table(std::span<const std::vector<std::string>> rows);

}  // namespace orc::cli
