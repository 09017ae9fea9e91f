// The stream of `orc bench load`: a sample each millisecond, from a process of its own. Each has the time at which it
// is due by an absolute timetable, so that a publisher that wakes late counts as well.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/expected.h"
#include "orc/options.h"
#include "tools/command_line/cli_fwd.h"
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
  // Of the samples that arrived, when the receive returned: since they were sent, and since they were due.
  std::vector<std::int64_t> ages_ns;
  std::vector<std::int64_t> lateness_ns;
  std::uint64_t sent = 0;
  std::uint64_t missed = 0;  // not there a period after they were due: they came later, or a newer one came first
};

// Receives the stream.
[[nodiscard]] detail::expected<stream_result> measure_stream(const stream_options& options);

// The other end, a hidden subcommand.
void add_load_stream(CLI::App& bench_command, int& exit_code);

}  // namespace orc::cli
