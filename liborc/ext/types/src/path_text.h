// The text of a field path.
#pragma once

#include <string_view>
#include <vector>

#include "orc/result.h"
#include "orc/types/field_path.h"

namespace orc::types::detail {

// Reads "arm.q[3]" into its parts. A name is anything but '.', '[' and ']'.
// - bad_argument: the text is no path; the message says where.
result read_path(std::string_view text, std::vector<field_path::part>& parts);

}  // namespace orc::types::detail
