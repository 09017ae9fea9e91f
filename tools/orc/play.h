// orc play
#pragma once

#include <CLI/CLI.hpp>

namespace orc::cli {

void add_play(CLI::App& app, int& exit_code);

}  // namespace orc::cli
