// `orc bench`: measurements that need nothing but this program.
#pragma once

#include <string>

#include "orc/options.h"
#include "tools/command_line/cli_fwd.h"
#include "tools/support/cpu.h"

namespace orc::cli {

// Adds `orc bench load`.
void add_load(CLI::App& bench_command, int& exit_code);

// Says why a measurement did not come about. Returns the exit code.
[[nodiscard]] int bench_failed(const std::string& why);

// What the command line names. Throws CLI::ValidationError for what there is not.
[[nodiscard]] orc::transport transport_named(const std::string& name);
[[nodiscard]] bench::cpu_pair cpus_named(const std::string& text);

}  // namespace orc::cli
