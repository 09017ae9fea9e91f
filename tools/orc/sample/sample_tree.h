// A decoded sample for people: one line per field, with its unit and comment.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "orc/result.h"
#include "orc/types/decoder.h"

namespace orc::cli {

struct tree_style {
  std::size_t fold = 0;     // arrays with more elements are long, and end with "… 997 more"; 0: none is
  bool whole = false;       // long arrays are written to their end
  int digits = 0;           // of floating-point numbers; 0: as many as it takes to read them back exactly
  std::size_t columns = 0;  // of a line: numbers that may need more become rows of equal cells; 0: one line holds all
};

struct tree_text {
  std::string lines = {};
  bool has_long = false;  // some array is long
};

// Writes lines such as "  q: [0.1, -0.785, 0] rad  # joint angles". All texts are escaped. `to` is replaced, and holds
// a part when it fails.
[[nodiscard]] result sample_tree(const types::decoder& type, std::span<const std::byte> sample, const tree_style& style,
                                 tree_text& to);

}  // namespace orc::cli
