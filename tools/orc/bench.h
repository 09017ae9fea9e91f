// `orc bench`: measurements that need nothing but this program.
#pragma once

#include <CLI/CLI.hpp>

namespace orc::cli {

void add_bench(CLI::App& app, int& exit_code);

}  // namespace orc::cli
