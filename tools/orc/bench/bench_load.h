// `orc bench load`: what ORC does while the machine is busy (ORC paper, V). Its parts: bench_load.cpp the command line
// and the order of measurements, load_stream the stream at 1 kHz, load_noise what keeps the machine busy, cyclictest
// the reference of the kernel alone.
#pragma once

#include "tools/command_line/cli_fwd.h"

namespace orc::cli {

void add_load(CLI::App& bench_command, int& exit_code);

}  // namespace orc::cli
