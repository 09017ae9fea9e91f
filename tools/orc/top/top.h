// `orc top`: a running system on the screen.
#pragma once

#include "tools/command_line/cli_fwd.h"

namespace orc::cli {

void add_top(CLI::App& app, int& exit_code);

}  // namespace orc::cli
