#include "tools/terminal/display_width.h"

#include <algorithm>
#include <iterator>
#include <span>

#include "base/text/printable.h"
#include "base/text/utf8_value.h"
#include "tools/terminal/unicode_ranges.h"

namespace orc::terminal {

namespace {

constexpr std::string_view ellipsis = "…";  // one column

[[nodiscard]] bool contains(std::span<const character_range> ranges, char32_t character) noexcept {
  const auto after = std::upper_bound(ranges.begin(), ranges.end(), character,
                                      [](char32_t value, const character_range& each) { return value < each.first; });
  return after != ranges.begin() && character <= std::prev(after)->last;
}

// A character and its columns; a byte that is none counts as one column.
struct measured {
  std::size_t bytes;
  std::size_t columns;
};

[[nodiscard]] measured first_of(std::string_view text) noexcept {
  if (static_cast<unsigned char>(text.front()) < 0x80) return {1, 1};
  const std::size_t length = detail::utf8_length(text);
  if (length == 0) return {1, 1};
  return {length, columns_of(detail::utf8_value(text, length))};
}

}  // namespace

std::size_t columns_of(char32_t character) noexcept {
  if (character < 0x300) return 1;
  if (contains(combining_characters, character)) return 0;
  return contains(wide_characters, character) ? 2 : 1;
}

std::size_t display_width(std::string_view text) noexcept {
  std::size_t columns = 0;
  while (!text.empty()) {
    const measured next = first_of(text);
    columns += next.columns;
    text.remove_prefix(next.bytes);
  }
  return columns;
}

std::string_view head(std::string_view text, std::size_t columns) noexcept {
  std::size_t end = 0;
  while (end < text.size()) {
    const measured next = first_of(text.substr(end));
    if (next.columns > columns) break;
    columns -= next.columns;
    end += next.bytes;
  }
  return text.substr(0, end);
}

std::string_view tail(std::string_view text, std::size_t columns) noexcept {
  std::size_t over = display_width(text);
  // Characters that join one that was left out go with it.
  while (!text.empty()) {
    const measured next = first_of(text);
    if (over <= columns && next.columns != 0) break;
    over -= next.columns;
    text.remove_prefix(next.bytes);
  }
  return text;
}

std::string_view line_of_words(std::string_view text, std::size_t columns) noexcept {
  std::string_view line = head(text, columns);
  if (line.size() == text.size()) return line;
  if (line.empty()) return text.substr(0, first_of(text).bytes);
  if (text[line.size()] == ' ') return text.substr(0, line.size() + 1);
  // The indentation is no place to break at.
  const std::size_t blank = line.rfind(' ');
  const bool breaks = blank != std::string_view::npos && blank > line.find_first_not_of(' ');
  return breaks ? line.substr(0, blank + 1) : line;
}

std::string shortened(std::string_view text, std::size_t columns, cut where) {
  if (display_width(text) <= columns) return std::string(text);
  if (columns == 0) return {};
  const std::size_t kept = columns - 1;
  const std::size_t at_end = where == cut::middle ? kept / 2 : 0;
  std::string made(head(text, kept - at_end));
  made += ellipsis;
  return made += tail(text, at_end);
}

std::string fitted(std::string_view text, std::size_t columns, align side, cut where) {
  std::string made = shortened(text, columns, where);
  const std::size_t taken = display_width(made);
  if (taken >= columns) return made;
  made.insert(side == align::left ? made.size() : 0, columns - taken, ' ');
  return made;
}

}  // namespace orc::terminal
