// Shows schemas of encoding struct, lcm and ros2msg to people.
#pragma once

#include <string>

#include "orc/schema.h"

namespace orc::detail {

// Returns one field per line, indented by two blanks under the structure's name; unnamed nested structures are indented
// in their place, others follow. `title` is printed for the first structure.
[[nodiscard]] std::string structure_text(const schema& all, const std::string& title);

// Returns "  # text" on one line and escaped; nothing for an empty comment.
[[nodiscard]] std::string comment_text(std::string_view comment);

}  // namespace orc::detail
