// A WebSocket client of orc-web, as its page is one, for the benchmark `web_load`; in a process of its own.
#pragma once

#include <cstdint>

#include "benchmarks/support/channel.h"

namespace orc::bench {

struct client_plan {
  std::uint16_t port = 0;
  unsigned trial = 0;
  int topics = 1;
  int plots = 0;
  double plot_points_per_s = 120;
  double bytes_per_s = 0;       // reads no faster; 0: as fast as it can
  bool ready_at_first = false;  // ready with the first sample, else with one of each topic and points of each plot
};

// What came between the word that starts the measurement and the one that ends it. Ages: the time at which the client
// has a message, less the stamp of its sample, in ms.
struct client_report {
  double seconds = 0;
  std::uint64_t bytes = 0;
  std::uint64_t samples = 0;
  std::uint64_t fewest_samples = 0;  // of a topic
  double sample_p50_ms = 0;
  double sample_p99_ms = 0;
  double sample_max_ms = 0;
  std::uint64_t points = 0;
  double plot_p50_ms = 0;  // of the newest point of each message
  double plot_p99_ms = 0;
  double plot_max_ms = 0;
  std::uint64_t problems = 0;  // messages about topics that could not be shown as they are
};

// Opens all topics and the plots. Per plan: answers true when it is ready; at the first word it begins to measure, at
// the second one it ends with a report.
void serve_client(channel& line);

}  // namespace orc::bench
