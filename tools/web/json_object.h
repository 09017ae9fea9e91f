// Reads JSON of strangers.
#pragma once

#include <nlohmann/json.hpp>
#include <string_view>

namespace orc::web {

// False: not JSON, not an object, or values deeper within each other than 64. Throws bad_alloc only.
[[nodiscard]] bool read_json_object(std::string_view text, nlohmann::json& found);

}  // namespace orc::web
