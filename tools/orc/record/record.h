// `orc record`
#pragma once

#include "tools/command_line/cli_fwd.h"

namespace orc::cli {

void add_record(CLI::App& app, int& exit_code);

}  // namespace orc::cli
