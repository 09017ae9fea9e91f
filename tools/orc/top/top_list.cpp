#include "tools/orc/top/top_list.h"

namespace orc::cli {

namespace {

using terminal::style;
using terminal::styled_line;

constexpr style heading_style = {.color = terminal::color::cyan, .bold = true};
constexpr style sorted_style = {.color = terminal::color::cyan, .bold = true, .reverse = true};
constexpr style note_style = {.dim = true};

}  // namespace

void top_list::filter(std::string words) {
  if (words == filter_) return;
  filter_ = std::move(words);
  arrange_around_cursor();
}

void top_list::show_only(std::optional<top_owner> owner) {
  if (owner == owner_) return;
  owner_ = std::move(owner);
  cursor_ = 0;
  arrange_around_cursor();
}

void top_list::sort_by_neighbour(int step) {
  const auto count = static_cast<std::ptrdiff_t>(shapes_.size());
  auto next = static_cast<std::ptrdiff_t>(sorted_by_);
  for (std::ptrdiff_t tried = 0; tried < count; ++tried) {
    next = (next + step + count) % count;
    if (widths_.empty() || widths_[static_cast<std::size_t>(next)] != 0) break;
  }
  sort_by(static_cast<std::size_t>(next));
}

void top_list::sort_by(std::size_t column) {
  sorted_by_ = column;
  descends_ = shapes_[column].is_number();
  arrange_around_cursor();
}

void top_list::reverse() {
  descends_ = !descends_;
  arrange_around_cursor();
}

void top_list::move(std::ptrdiff_t rows) {
  if (size() == 0) return;
  const auto last = static_cast<std::ptrdiff_t>(size()) - 1;
  cursor_ = static_cast<std::size_t>(std::clamp<std::ptrdiff_t>(static_cast<std::ptrdiff_t>(cursor_) + rows, 0, last));
}

void top_list::move_to_first() { cursor_ = 0; }

void top_list::move_to_last() { cursor_ = size() == 0 ? 0 : size() - 1; }

// At the top the reader looks at the greatest rows, whichever they are; elsewhere at this row.
void top_list::arrange_around_cursor() {
  std::optional<std::string> followed;
  if (cursor_ != 0 && cursor_ < size()) followed = key(cursor_);
  arrange();
  cursor_ = std::min(cursor_, size() == 0 ? 0 : size() - 1);
  if (!followed) return;
  for (std::size_t i = 0; i < size(); ++i) {
    if (key(i) != *followed) continue;
    cursor_ = i;
    return;
  }
}

std::vector<std::string> top_list::draw(std::size_t rows, std::size_t columns, bool colored, bool stale) {
  std::vector<std::string> lines;
  if (rows == 0) return lines;
  page_ = rows - 1;
  widths_ = fit(shapes_, columns);
  if (page_ == 0) return {heading(columns, colored)};
  top_ = std::min(top_, cursor_);
  if (cursor_ >= top_ + page_) top_ = cursor_ + 1 - page_;
  if (top_ + page_ > size()) top_ = size() > page_ ? size() - page_ : 0;
  lines.push_back(heading(columns, colored));
  if (size() == 0 && is_known()) lines.push_back(styled_line(columns, colored).add(why_empty(), note_style).finish());
  while (lines.size() < rows) {
    const std::size_t i = lines.size() - 1;
    lines.push_back(top_ + i < size() ? line(top_ + i, columns, colored, stale) : std::string());
  }
  return lines;
}

std::string top_list::why_empty() const {
  const std::string what(what_);
  if (!filter_.empty()) return "no " + what + " matches /" + filter_ + ", Esc shows all";
  if (owner_) return owner_->name + " has no " + what + " now, Esc goes back";
  return "the broker knows no " + what;
}

std::string top_list::heading(std::size_t columns, bool colored) const {
  styled_line made(columns, colored);
  bool first = true;
  for (std::size_t i = 0; i < shapes_.size(); ++i) {
    if (widths_[i] == 0) continue;
    if (!std::exchange(first, false)) made.add(" ");
    const bool sorted = i == sorted_by_;
    made.cell(shapes_[i].name, widths_[i], shapes_[i].side, sorted ? sorted_style : heading_style);
  }
  return made.finish();
}

std::string top_list::line(std::size_t row, std::size_t columns, bool colored, bool stale) const {
  styled_line made(columns, colored, {.dim = stale, .reverse = row == cursor_});
  bool first = true;
  for (std::size_t i = 0; i < shapes_.size(); ++i) {
    if (widths_[i] == 0) continue;
    if (!std::exchange(first, false)) made.add(" ");
    made.cell(cell(row, i), widths_[i], shapes_[i].side);
  }
  return made.finish();
}

}  // namespace orc::cli
