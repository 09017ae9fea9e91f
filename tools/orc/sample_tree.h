// A decoded sample for people: one line per field, with its unit and comment.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "orc/result.h"
#include "orc/types/decoder.h"

namespace orc::cli {

// Writes lines such as "  q: [0.1, -0.785, 0] rad  # joint angles". Arrays with more than `fold` elements end with
// "… 997 more"; 0: none does. All texts are escaped. `lines` is replaced, and holds a part when it fails.
[[nodiscard]] result sample_tree(const types::decoder& type, std::span<const std::byte> sample, std::size_t fold,
                                 std::string& lines);

}  // namespace orc::cli
