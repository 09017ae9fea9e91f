// `orc log`: one function per subcommand, each in the file of its name. They add the subcommand to `log` and set
// `exit_code` when it has run.
#pragma once

#include <string>
#include <vector>

#include "tools/command_line/cli_fwd.h"

namespace orc::cli {

void add_log_info(CLI::App& log, int& exit_code);
void add_log_check(CLI::App& log, int& exit_code);
void add_log_recover(CLI::App& log, int& exit_code);
void add_log_cut(CLI::App& log, int& exit_code);
void add_log_merge(CLI::App& log, int& exit_code);
void add_log_convert(CLI::App& log, int& exit_code);
void add_log_echo(CLI::App& log, int& exit_code);

// Adds the required positional FILE.
CLI::Option* add_recording_argument(CLI::App& command, std::string& path);
// Adds --lcm-types.
void add_lcm_types(CLI::App& command, std::vector<std::string>& paths);

}  // namespace orc::cli
