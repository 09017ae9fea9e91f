// A variable of the program's environment.
#pragma once

#include <cstdlib>
#include <string>

namespace orc::detail {

// Empty when it is not set.
[[nodiscard]] inline std::string environment(const char* name) {
  const char* const value = std::getenv(name);
  return value != nullptr ? value : "";
}

}  // namespace orc::detail
