// How many columns of a terminal a text takes, and text that takes a given number of them.
//
// All texts are UTF-8 without control characters (detail::escaped). Columns are those of Unicode's East Asian Width;
// they do not depend on the locale.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace orc::terminal {

// 0: joins the character before it; 1; or 2.
[[nodiscard]] std::size_t columns_of(char32_t character) noexcept;

[[nodiscard]] std::size_t display_width(std::string_view text) noexcept;

// The longest start, or end, of a text that takes at most `columns`.
[[nodiscard]] std::string_view head(std::string_view text, std::size_t columns) noexcept;
[[nodiscard]] std::string_view tail(std::string_view text, std::size_t columns) noexcept;

// The start of a text that makes a line of at most `columns`: whole words if there is a blank to break at, with the
// blank. Never empty unless the text is.
[[nodiscard]] std::string_view line_of_words(std::string_view text, std::size_t columns) noexcept;

enum class cut : std::uint8_t { middle, end };  // where a text that is too long loses characters
enum class align : std::uint8_t { left, right };

// The text, or as much of it as takes `columns`, with "…" where it is cut.
[[nodiscard]] std::string shortened(std::string_view text, std::size_t columns, cut where);

// The same, filled up with blanks to exactly `columns`.
[[nodiscard]] std::string fitted(std::string_view text, std::size_t columns, align side = align::left,
                                 cut where = cut::middle);

}  // namespace orc::terminal
