// "ipc, tcp" -> {"ipc", "tcp"}
#pragma once

#include <algorithm>
#include <string_view>
#include <vector>

namespace orc::detail {

// The words without surrounding blanks, without empty ones. They point into the text.
[[nodiscard]] inline std::vector<std::string_view> comma_list(std::string_view text) {
  constexpr std::string_view blanks = " \t";
  std::vector<std::string_view> found;
  while (!text.empty()) {
    const auto comma = std::min(text.find(','), text.size());
    const auto word = text.substr(0, comma);
    if (const auto first = word.find_first_not_of(blanks); first != std::string_view::npos)
      found.push_back(word.substr(first, word.find_last_not_of(blanks) - first + 1));
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return found;
}

}  // namespace orc::detail
