// JSON text of other programs.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string_view>

#include "orc/result.h"

namespace orc::types::detail {

// Reads JSON of at most max_depth levels.
// - bad_argument: it is none, or deeper; the message says at which byte.
result parse_json(std::string_view text, nlohmann::json& parsed);

}  // namespace orc::types::detail
