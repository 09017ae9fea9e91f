// The types that LCM definitions have.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace orc::cli {

// Returns the full names, "exlcm.example_t", of the structs in this text, in its order.
[[nodiscard]] std::vector<std::string> lcm_names_in(std::string_view text);

}  // namespace orc::cli
