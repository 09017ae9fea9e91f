// Text of strangers, made harmless for terminals, logs and the people who read them.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace orc::wire {

// Length of the valid UTF-8 character that `bytes` begins with; 0 when it begins with none (RFC 3629: no overlong
// forms, no surrogates, at most U+10FFFF).
[[nodiscard]] std::size_t utf8_length(std::string_view bytes) noexcept;

// Valid UTF-8 that escaped() would leave alone, but for tab, line feed, carriage return and backslash; not empty.
[[nodiscard]] bool is_printable(std::string_view bytes) noexcept;

enum class backslashes { kept, doubled };  // doubled: what was escaped can be told from what looks like it

// On one line: control characters (C0, DEL, C1), U+2028, U+2029, the characters that turn the direction of text
// (U+202A to U+202E, U+2066 to U+2069) and invalid bytes as \n, \t, \r or \xNN.
[[nodiscard]] std::string escaped(std::string_view bytes, backslashes how = backslashes::doubled);

}  // namespace orc::wire
