// `orc param`: one function per subcommand, each in the file of its name. They add the subcommand to `param` and set
// `exit_code` when it has run.
#pragma once

#include <chrono>
#include <string>

#include "orc/parameters.h"
#include "tools/command_line/cli_fwd.h"
#include "tools/orc/console.h"
#include "tools/support/json.h"

namespace orc::cli {

void add_param_list(CLI::App& param, int& exit_code);
void add_param_get(CLI::App& param, int& exit_code);
void add_param_set(CLI::App& param, int& exit_code);
void add_param_save(CLI::App& param, int& exit_code);
void add_param_load(CLI::App& param, int& exit_code);

// What `orc param` needs of the system. Ctrl-C ends the process.
struct param_access {
  explicit param_access(const std::string& broker);

  orc::directory directory;
  orc::participant participant;
};

// Adds the required positional PARAM, checked for being a name.
void add_param_argument(CLI::App& command, std::string& name);
// Adds the optional positional PATTERN of names.
void add_param_pattern(CLI::App& command, std::string& pattern);
// Adds --timeout.
void add_param_timeout(CLI::App& command, double& seconds);
[[nodiscard]] std::chrono::nanoseconds timeout_of(double seconds);

// Notes why a question for the parameter failed, with a near name when there is none. Returns the exit code.
int report_failure(console& out, const std::string& name, directory& from, const result& failure);
// The exit code of what happened to one parameter.
[[nodiscard]] int exit_code_of_parameter(const result& outcome);

// What values are allowed, for people. No control characters.
[[nodiscard]] std::string allowed_text(const parameter_description& parameter);
// A text as it is, anything else as JSON. No control characters.
[[nodiscard]] std::string value_text(const parameter_value& value);
[[nodiscard]] json_value json_of(const parameter_value& value);
[[nodiscard]] json_value json_of(const parameter_description& parameter);
// One object: its name, and the value or why there is none.
[[nodiscard]] json_value json_of(const parameter_outcome& outcome);

}  // namespace orc::cli
