// Makes text of strangers harmless for terminals, logs and people.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace orc::detail {

// Returns the length of the valid UTF-8 character at the start of `bytes`; 0 when there is none (RFC 3629: no overlong
// forms, no surrogates, at most U+10FFFF).
[[nodiscard]] std::size_t utf8_length(std::string_view bytes) noexcept;

// True for valid UTF-8 that escaped() leaves unchanged, except for tab, line feed, carriage return and backslash; false
// for empty text.
[[nodiscard]] bool is_printable(std::string_view bytes) noexcept;

enum class backslashes { kept, doubled };  // doubled: escapes differ from text that looks like them

// Returns the text on one line. Writes control characters (C0, DEL, C1), U+2028, U+2029, the characters that turn the
// direction of text (U+202A to U+202E, U+2066 to U+2069) and invalid bytes as \n, \t, \r or \xNN.
[[nodiscard]] std::string escaped(std::string_view bytes, backslashes how = backslashes::doubled);

}  // namespace orc::detail
