// orc bridge
#pragma once

#include <CLI/CLI.hpp>

namespace orc::cli {

void add_bridge(CLI::App& app, int& exit_code);

}  // namespace orc::cli
