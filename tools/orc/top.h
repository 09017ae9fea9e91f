// `orc top`: a running system on the screen.
#pragma once

#include <CLI/CLI.hpp>

namespace orc::cli {

void add_top(CLI::App& app, int& exit_code);

}  // namespace orc::cli
