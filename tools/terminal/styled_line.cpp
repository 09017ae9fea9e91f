#include "tools/terminal/styled_line.h"

#include <utility>

#include "base/text/printable.h"

namespace orc::terminal {

namespace {

[[nodiscard]] std::string_view digits_of(color c) noexcept {
  switch (c) {
    case color::red: return ";31";
    case color::green: return ";32";
    case color::yellow: return ";33";
    case color::blue: return ";34";
    case color::cyan: return ";36";
    case color::none: break;
  }
  return "";
}

// Escape sequence that selects this style, whatever was selected before.
[[nodiscard]] std::string sequence_of(const style& s) {
  std::string text = "\x1b[0";
  if (s.bold) text += ";1";
  if (s.dim) text += ";2";
  if (s.reverse) text += ";7";
  text += digits_of(s.color);
  return text += 'm';
}

}  // namespace

styled_line::styled_line(std::size_t columns, bool colored, const style& base)
    : columns_(columns), colored_(colored), base_(base) {}

styled_line& styled_line::add(std::string_view text, const style& with) {
  put(head(detail::escaped(text, detail::backslashes::kept), room()), with);
  return *this;
}

styled_line& styled_line::cell(std::string_view text, std::size_t width, align side, const style& with, cut where) {
  const std::string shown = fitted(detail::escaped(text, detail::backslashes::kept), width, side, where);
  put(head(shown, room()), with);
  return *this;
}

void styled_line::put(std::string_view shown, const style& with) {
  if (shown.empty()) return;
  style wanted = with;
  wanted.bold = wanted.bold || base_.bold;
  wanted.dim = wanted.dim || base_.dim;
  wanted.reverse = wanted.reverse || base_.reverse;
  if (wanted.color == color::none) wanted.color = base_.color;
  if (!colored_) wanted.color = color::none;
  if (wanted != current_) bytes_ += sequence_of(wanted);
  current_ = wanted;
  bytes_ += shown;
  taken_ += display_width(shown);
}

std::string styled_line::finish() {
  if (base_ != style{}) put(std::string(room(), ' '), {});
  if (current_ != style{}) bytes_ += sequence_of({});
  current_ = {};
  return std::move(bytes_);
}

}  // namespace orc::terminal
