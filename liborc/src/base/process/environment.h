// Reads a variable of the environment.
#pragma once

#include <cstdlib>
#include <string>

namespace orc::detail {

// Returns its value; empty when it is not set.
[[nodiscard]] inline std::string environment(const char* name) {
  const char* const value = std::getenv(name);
  return value != nullptr ? value : "";
}

}  // namespace orc::detail
