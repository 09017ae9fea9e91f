// The two parts of the freshness benchmark.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "benchmarks/support/command_line.h"
#include "tools/support/json.h"
#include "tools/support/scratch_dir.h"

namespace orc::bench {

struct freshness_options {
  std::vector<orc::transport> transports;
  std::uint64_t bursts = 100'000;       // over ORC
  std::uint64_t stock_bursts = 20'000;  // over each of the libzmq twins
  bool throttled = true;
  double rate_bytes = 100'000;       // of the throttled link, per second
  std::size_t queue_bytes = 10'000;  // of the throttled link itself
  double stream_seconds = 10;
  double wait_seconds = 20;  // for the last sample, after the stream
  common_options common;
};

// Both print a table and append their rows. They start their own processes: call them before this one has threads.
void run_bursts(const freshness_options& options, const scratch_dir& files, std::vector<json_value>& rows);
// False when the machine does not allow it; it says why.
bool run_throttled(const freshness_options& options, const scratch_dir& files, std::vector<json_value>& rows);

}  // namespace orc::bench
