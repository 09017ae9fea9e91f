// Several words as one text.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace orc::cli {

// "a, b, c" with the separator ", "; with " or " before the last: "a, b or c".
[[nodiscard]] std::string joined(std::span<const std::string> words, std::string_view separator,
                                 std::string_view before_last);
[[nodiscard]] std::string joined(std::span<const std::string> words, std::string_view separator);

}  // namespace orc::cli
