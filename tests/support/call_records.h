// Reads what a recorded service publishes.
#pragma once

#include <string>

#include "orc/calls/call_record.h"
#include "orc/participant.h"
#include "support/budget.h"
#include "support/catch.h"

namespace orc::test {

// A subscriber of the records of a service, in order.
class call_reader {
 public:
  call_reader(const participant_options& options, const std::string& service)
      : participant_(options), topic_(call_record_topic(service)) {
    REQUIRE(participant_.request_topic(topic_, {.conflate = 0, .depth = 1000, .connected_within = patience}).result());
  }

  [[nodiscard]] message next_sample() { return participant_.recv_msg(topic_, patience_ms); }
  [[nodiscard]] call_record next() {
    const message sample = next_sample();
    REQUIRE(sample);
    call_record found;
    const result read = read_call_record(sample.bytes(), found);
    INFO(read.error().message());
    REQUIRE(read);
    return found;
  }

 private:
  orc::participant participant_;
  const std::string topic_;
};

}  // namespace orc::test
