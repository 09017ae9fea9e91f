// Patterns of topic names: `*` stands for any characters but `/`, `**` for any characters; both also stand for none.
#pragma once

#include <cstddef>
#include <string_view>

#include "orc/result.h"

namespace orc::wire {

// Checks for 1-255 bytes of [A-Za-z0-9_./-*]. The error is errc::bad_argument.
[[nodiscard]] result check_name_pattern(std::string_view pattern);

// "arm/*" matches arm/position but not arm/left/position; "arm/**" and "**" match both. The pattern must pass
// check_name_pattern(); the name may be anything. Adds its work to `steps`: one, and at most the product of the lengths
// if the name begins as the pattern does.
[[nodiscard]] bool matches(std::string_view pattern, std::string_view name, std::size_t& steps) noexcept;
[[nodiscard]] inline bool matches(std::string_view pattern, std::string_view name) noexcept {
  std::size_t steps = 0;
  return matches(pattern, name, steps);
}

}  // namespace orc::wire
