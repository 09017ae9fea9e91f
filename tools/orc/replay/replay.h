// `orc replay`.
#pragma once

#include "tools/command_line/cli_fwd.h"

namespace orc::cli {

// Adds the command to the application; sets the exit code when it has run.
void add_replay(CLI::App& app, int& exit_code);

}  // namespace orc::cli
