// JSON that strangers wrote.
#pragma once

#include <nlohmann/json.hpp>
#include <string_view>

namespace orc::detail {

// Reads a text of at most 64 levels: copies of deeper values would overflow the stack. Throws what nlohmann throws, and
// std::invalid_argument: too deep.
[[nodiscard]] nlohmann::json parse_bounded(std::string_view text);

}  // namespace orc::detail
