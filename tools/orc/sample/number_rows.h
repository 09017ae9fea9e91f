// Numbers of a sample as text: one, or an array in rows of equal cells.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "orc/types/field_info.h"
#include "orc/types/number_array.h"

namespace orc::cli {

// `digits`: significant ones; 0: as many as it takes to read the number back exactly.
[[nodiscard]] std::string number_text(float number, int digits);
[[nodiscard]] std::string number_text(double number, int digits);
// A number of an array. `names` as field_info::names: "ready (3)".
[[nodiscard]] std::string number_text(const types::number_array& all, std::size_t index, int digits,
                                      const types::enumeration* names);

// The columns that any number of this kind fits into with so many digits, so that rows do not move when the numbers
// change.
[[nodiscard]] std::size_t cell_width(field_kind kind, int digits) noexcept;

// How a table of equal cells is written.
struct row_layout {
  std::string indent = {};
  std::size_t columns = 80;                  // of a line
  std::size_t cell = 1;                      // columns of a cell
  std::size_t most = std::size_t{16} << 20;  // bytes of the text, behind which no line begins
};

// Appends lines such as "    [5]  0.1  0.2  0.3": `count` cells, each line with the label of its first one.
void append_rows(std::size_t count, const row_layout& layout, const std::function<std::string(std::size_t)>& label,
                 const std::function<std::string(std::size_t)>& cell, std::string& to);

}  // namespace orc::cli
