// What a person types as arguments: names, and the words of a sample, a request or a value.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "console.h"

namespace orc::cli {

// Adds the required positional `argument`, checked for being the name of a `what`, such as "service". The rules are
// those of topic names.
void add_name_argument(CLI::App& command, const std::string& argument, const std::string& what, std::string& name);

// The words as they were typed (unquoted), joined by a space.
[[nodiscard]] std::string joined(const std::vector<std::string>& words);

// The bytes that --hex means. Empty optional: `typed` is not hexadecimal, which `out` has noted.
[[nodiscard]] std::optional<std::string> typed_hex(console& out, const std::string& typed);

}  // namespace orc::cli
