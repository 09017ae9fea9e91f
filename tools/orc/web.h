// orc web
#pragma once

#include <CLI/CLI.hpp>

namespace orc::cli {

void add_web(CLI::App& app, int& exit_code);

}  // namespace orc::cli
