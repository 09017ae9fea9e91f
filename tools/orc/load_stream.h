// The stream of `orc bench load`: a sample each millisecond, from a process of its own.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "base/expected.h"
#include "orc/options.h"
#include "tools/support/cpu.h"

namespace orc::cli {

struct stream_options {
  std::string broker;
  orc::transport transport = orc::transport::ipc;
  double seconds = 2;
  bench::cpu_pair cpus;
  int priority = 0;  // SCHED_FIFO of both ends; 0: none
  bool predictive = false;
};

struct stream_result {
  std::vector<std::int64_t> ages_ns;  // of the samples that arrived, when the receive returned
  std::uint64_t sent = 0;
  std::uint64_t late = 0;  // not there within a period: they came later, or a newer one came first
};

// Receives the stream.
[[nodiscard]] detail::expected<stream_result> measure_stream(const stream_options& options);

// The other end, a hidden subcommand.
void add_load_stream(CLI::App& bench_command, int& exit_code);

}  // namespace orc::cli
