// `orc record`
#pragma once

#include <CLI/CLI.hpp>

namespace orc::cli {

void add_record(CLI::App& app, int& exit_code);

}  // namespace orc::cli
