// A table of `orc top` on the screen: rows that can be sorted, filtered and moved in. Only what is visible is made into
// text.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tools/orc/top/top_columns.h"
#include "tools/orc/top/top_text.h"

namespace orc::cli {

// The participant or host whose rows alone a table shows.
struct top_owner {
  std::string id = {};    // belongs_to
  std::string name = {};  // for people

  bool operator==(const top_owner&) const = default;
};

// What does not depend on the kind of the rows.
class top_list {
 public:
  virtual ~top_list() = default;
  top_list(const top_list&) = delete;
  top_list& operator=(const top_list&) = delete;

  // Shows only rows in which each of these words occurs.
  void filter(std::string words);
  [[nodiscard]] const std::string& filter() const noexcept { return filter_; }
  // Shows only rows that belong to it; nothing: to anyone.
  void show_only(std::optional<top_owner> owner);
  [[nodiscard]] const std::optional<top_owner>& owner() const noexcept { return owner_; }

  // Sorts by the next visible column to the right or left, in that column's own order: names ascend, numbers descend.
  // Wraps around.
  void sort_by_neighbour(int step);
  void sort_by(std::size_t column);
  void reverse();

  // Moves the cursor, also by whole pages; it stops at the ends. The cursor stays on its row when the order changes,
  // unless it is at the top.
  void move(std::ptrdiff_t rows);
  void move_page(int pages) { move(pages * static_cast<std::ptrdiff_t>(std::max<std::size_t>(page_, 2) - 1)); }
  void move_to_first();
  void move_to_last();

  [[nodiscard]] virtual bool is_known() const noexcept = 0;      // figures have come
  [[nodiscard]] virtual std::size_t size() const noexcept = 0;   // rows that pass the filter and belong to owner()
  [[nodiscard]] virtual std::size_t total() const noexcept = 0;  // all
  [[nodiscard]] std::size_t cursor() const noexcept { return cursor_; }

  // The heading and the rows around the cursor, or why there are none: `rows` lines. `stale`: the figures are old.
  [[nodiscard]] std::vector<std::string> draw(std::size_t rows, std::size_t columns, bool colored, bool stale = false);

 protected:
  // `what`: one row, such as "topic".
  top_list(std::vector<column_shape> shapes, std::string_view what) : shapes_(std::move(shapes)), what_(what) {}

  // Filters and sorts anew.
  virtual void arrange() = 0;
  [[nodiscard]] virtual std::string cell(std::size_t row, std::size_t column) const = 0;
  [[nodiscard]] virtual const std::string& key(std::size_t row) const = 0;

  void arrange_around_cursor();
  [[nodiscard]] std::size_t sorted_by() const noexcept { return sorted_by_; }
  [[nodiscard]] bool descends() const noexcept { return descends_; }

 private:
  [[nodiscard]] std::string heading(std::size_t columns, bool colored) const;
  [[nodiscard]] std::string line(std::size_t row, std::size_t columns, bool colored, bool stale) const;
  [[nodiscard]] std::string why_empty() const;

  const std::vector<column_shape> shapes_;
  const std::string_view what_;
  std::optional<top_owner> owner_;
  std::string filter_;
  std::size_t sorted_by_ = 0;
  bool descends_ = false;
  std::size_t cursor_ = 0;
  std::size_t top_ = 0;  // the first row that is visible
  std::size_t page_ = 0;
  std::vector<std::size_t> widths_;  // as they were drawn
};

// `Figures` has the rows: rows_of().
template <class Row, class Figures = view::system_figures>
class top_list_of : public top_list {
 public:
  top_list_of() : top_list(shapes(), word_of(static_cast<const Row*>(nullptr))) {}

  // Null: nothing is known.
  void take(std::shared_ptr<const Figures> figures) {
    // The rows of the figures before live until the cursor has found its row again.
    const auto before = std::exchange(figures_, std::move(figures));
    arrange_around_cursor();
  }
  [[nodiscard]] bool is_known() const noexcept override { return figures_ != nullptr; }
  [[nodiscard]] std::size_t size() const noexcept override { return shown_.size(); }
  [[nodiscard]] std::size_t total() const noexcept override { return figures_ ? all().size() : 0; }
  // Null: there is no row.
  [[nodiscard]] const Row* selected() const noexcept { return cursor() < size() ? shown_[cursor()] : nullptr; }

 protected:
  void arrange() override {
    shown_.clear();
    if (!figures_) return;
    for (const Row& each : all()) {
      if (owner() && !belongs_to(each, owner()->id)) continue;
      if (filter().empty() || matches_filter(search_text(each), filter())) shown_.push_back(&each);
    }
    const auto less = columns_[sorted_by()].less;
    const bool backwards = descends();
    std::stable_sort(shown_.begin(), shown_.end(),
                     [=](const Row* a, const Row* b) { return backwards ? less(*b, *a) : less(*a, *b); });
  }
  [[nodiscard]] std::string cell(std::size_t row, std::size_t column) const override {
    return columns_[column].text(*shown_[row]);
  }
  [[nodiscard]] const std::string& key(std::size_t row) const override { return key_of(*shown_[row]); }

 private:
  static std::vector<column_shape> shapes() {
    std::vector<column_shape> all;
    for (const auto& each : top_columns<Row>()) all.push_back(each.shape);
    return all;
  }
  [[nodiscard]] const std::vector<Row>& all() const { return rows_of(*figures_, static_cast<const Row*>(nullptr)); }

  const std::span<const top_column<Row>> columns_ = top_columns<Row>();
  std::shared_ptr<const Figures> figures_;
  std::vector<const Row*> shown_;
};

}  // namespace orc::cli
