// Text without the white space around it.
#pragma once

#include <string_view>

namespace orc::detail {

inline constexpr std::string_view white_space = " \t\r\n\v\f";

[[nodiscard]] inline std::string_view trimmed(std::string_view text) noexcept {
  const auto first = text.find_first_not_of(white_space);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(white_space) - first + 1);
}

}  // namespace orc::detail
