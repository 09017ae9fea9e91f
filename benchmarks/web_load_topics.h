// The topics of the benchmark `web_load`, and a subscriber to compare with; each in a process of its own.
#pragma once

#include <cstdint>
#include <string>

#include "benchmarks/support/channel.h"

namespace orc::bench {

struct topics_plan {
  unsigned number = 0;  // of the trial: names its topics
  int topics = 1;
  double hz = 1000;  // of each topic
  double seconds = 1;
  char broker[200] = {};
};

// From the word that starts the measurement to the one that ends it.
struct sending_report {
  std::uint64_t sent = 0;
  double seconds = 0;
  double p50_us = 0;  // of one send
  double p99_us = 0;
  double p999_us = 0;
};

[[nodiscard]] std::string topic_of(unsigned trial, int index);

// Publishes structs, all topics in one thread, until the line ends. Per plan: answers true when the topics are
// registered, and sends; at the first word it begins to measure, at the second one it ends with a report.
void serve_topics(channel& line);

// Subscribes to the topics and takes each newest sample as it comes, as a program of the robot does. Per plan: answers
// true when it has a sample of each topic; reads until the next word, and answers true.
void serve_subscriber(channel& line);

}  // namespace orc::bench
