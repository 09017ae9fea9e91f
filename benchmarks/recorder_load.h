// The senders of the benchmark `recorder`, and a reader to compare with; each in a process of its own.
#pragma once

#include <cstddef>
#include <cstdint>

#include "benchmarks/support/channel.h"

namespace orc::bench {

enum class load_kind : char { lcm, ipc, shm };

// What to send: `hz` samples a second on each topic; 0: as many as possible.
struct load_plan {
  unsigned number = 0;  // of the trial: names its topics
  load_kind kind = load_kind::lcm;
  int topics = 1;
  std::size_t size = 0;
  double hz = 0;
  double seconds = 1;
  int readers = 0;  // wait until each topic has so many
  int port = 0;     // lcm
  char broker[200] = {};
};

struct load_report {
  bool good = false;
  std::uint64_t sent = 0;
  double seconds = 0;
  double p50_us = 0;  // of one send
  double p99_us = 0;
};

inline constexpr const char* load_group = "239.255.76.67";

// Sends what each plan says until the line ends. Answers with a bool when the topics are there, and a report at the
// end.
void serve_load(channel& line);

// Subscribes what each plan publishes, as a program of the robot does, from the plan until the next word; answers then.
void serve_reader(channel& line);

}  // namespace orc::bench
