// One line of a screen, made of texts with styles. What strangers sent can neither leave the line nor change the
// terminal: all texts are escaped here, and only here escape sequences are made.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "tools/terminal/display_width.h"

namespace orc::terminal {

enum class color : std::uint8_t { none, red, green, yellow, blue, cyan };

struct style {
  orc::terminal::color color = color::none;  // of the text; none: the terminal's own
  bool bold = false;
  bool dim = false;
  bool reverse = false;

  bool operator==(const style&) const = default;
};

class styled_line {
 public:
  // Takes at most `columns`. Without `colored` it has no colours, but bold and reverse text. `base` is added to each
  // style, and fills the rest of the line.
  styled_line(std::size_t columns, bool colored, const style& base = {});

  // Adds a text. What does not fit is cut off at the end.
  styled_line& add(std::string_view text, const style& with = {});
  // Adds a text in a cell of this width.
  styled_line& cell(std::string_view text, std::size_t width, align side = align::left, const style& with = {},
                    cut where = cut::middle);
  // Columns that are left.
  [[nodiscard]] std::size_t room() const noexcept { return columns_ - taken_; }

  // The line for a terminal, with escape sequences.
  [[nodiscard]] std::string finish();

 private:
  void put(std::string_view shown, const style& with);

  const std::size_t columns_;
  const bool colored_;
  const style base_;
  style current_ = {};
  std::size_t taken_ = 0;
  std::string bytes_;
};

}  // namespace orc::terminal
