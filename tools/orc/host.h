// `orc host`: what the broker knows of other hosts.
#pragma once

#include "tools/command_line/cli_fwd.h"

namespace orc::cli {

void add_host(CLI::App& app, int& exit_code);

}  // namespace orc::cli
