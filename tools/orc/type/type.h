// `orc type`: one function per subcommand, each in the file of its name. They add the subcommand to `type` and set
// `exit_code` when it has run.
#pragma once

#include <string>

#include "orc/directory.h"
#include "orc/type_description.h"
#include "tools/command_line/cli_fwd.h"
#include "tools/orc/console.h"

namespace orc::cli {

void add_type_list(CLI::App& type, int& exit_code);
void add_type_show(CLI::App& type, int& exit_code);
void add_type_diff(CLI::App& type, int& exit_code);
void add_type_hash(CLI::App& type, int& exit_code);

// Adds a required positional argument of that kind, a topic by its full name then; and --namespace.
void add_named_type(CLI::App& command, const char* name, std::string& words, const char* help);

// Finds the type that TOPIC|FILE[:NAME] names: a file if there is one, else a topic. Asks `from` for topics. Returns
// the exit code; what went wrong is noted.
[[nodiscard]] int find_named_type(console& out, directory& from, const std::string& words, type_description& found);

}  // namespace orc::cli
