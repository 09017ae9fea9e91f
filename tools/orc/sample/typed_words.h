// What a person types as the words of a sample, a request or a value.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tools/orc/console.h"

namespace orc::cli {

// The words as they were typed, joined by a space.
[[nodiscard]] std::string typed_text(const std::vector<std::string>& words);

// The bytes that --hex means. Empty optional: `typed` is not hexadecimal, which `out` has noted.
[[nodiscard]] std::optional<std::string> typed_hex(console& out, const std::string& typed);

}  // namespace orc::cli
