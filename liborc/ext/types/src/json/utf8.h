// UTF-8 for JSON.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace orc::types::detail {

// Appends the text with the escapes of JSON. Bytes that are not UTF-8 become U+FFFD.
void append_json_text(std::string_view text, std::string& to);

// Appends a character. Surrogates and what is beyond Unicode become U+FFFD.
void append_utf8(std::uint32_t character, std::string& to);

// Reads the next character, and moves `at` behind it, or behind one byte that is not UTF-8: then returns U+FFFD and
// `valid` is false.
std::uint32_t next_character(std::string_view text, std::size_t& at, bool& valid);

}  // namespace orc::types::detail
