// Pieces of JSON.
#pragma once

#include <charconv>
#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

namespace orc::web {

// Appends the text in quotes. Bytes that are not UTF-8 become U+FFFD.
void append_quoted(std::string& to, std::string_view text);

template <std::integral Number>
void append_number(std::string& to, Number number) {
  char digits[24];
  to.append(digits, std::to_chars(digits, digits + sizeof digits, number).ptr);
}

// With as few digits as identify it. NaN and the infinities become null: JSON has none.
void append_number(std::string& to, double number);
void append_number(std::string& to, float number);

// In quotes: 64-bit numbers that JavaScript would round.
template <std::integral Number>
void append_quoted_number(std::string& to, Number number) {
  to += '"';
  append_number(to, number);
  to += '"';
}

// {"op":"error","about":ABOUT,"id":ID,"message":MESSAGE}; negative ids are left out.
[[nodiscard]] std::string error_text(std::string_view about, std::int64_t id, std::string_view message);

}  // namespace orc::web
