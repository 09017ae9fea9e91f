// Names that people type, in the namespace of --namespace or ORC_NAMESPACE. The commands themselves, their directories
// and their participants (wire::no_name_space) work with full names.
#pragma once

#include <string>

#include "tools/command_line/cli_fwd.h"

namespace orc::cli {

// Returns what makes a full name of the value of an option, and checks it. `kind` is "a topic name". Adds --namespace
// to the command if it has none yet.
[[nodiscard]] CLI::Validator full_name(CLI::App& command, std::string kind);
// The same for a pattern of names.
[[nodiscard]] CLI::Validator full_pattern(CLI::App& command, std::string kind);
// The same for a name that the command checks itself; `is_name` says whether the value is one.
[[nodiscard]] CLI::Validator full_name_if(CLI::App& command, bool (*is_name)(const std::string& text));

}  // namespace orc::cli
