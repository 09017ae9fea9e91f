// The name that a mistyped one probably stands for.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace orc::cli {

// The number of letters to insert, delete, replace or swap with a neighbour that makes one name of the other; upper and
// lower case count as equal. Any number above `most` means "more than that".
[[nodiscard]] int edit_distance(std::string_view one, std::string_view other, int most);

// The one of `known` nearest to `typed`; of equally near ones the first. Empty when none is near: more than a third of
// the letters, or more than three, differ.
[[nodiscard]] std::string nearest_name(std::string_view typed, std::span<const std::string> known);

// ": did you mean list?", or nothing when no name is near.
[[nodiscard]] std::string did_you_mean(std::string_view typed, std::span<const std::string> known);

}  // namespace orc::cli
