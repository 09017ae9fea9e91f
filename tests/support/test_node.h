// A participant in a process of its own, driven line by line (test_node_main.cpp): what tests of dying, stopping and
// starving processes are made with.
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "orc/options.h"
#include "support/child_process.h"

namespace orc::test {

class test_node {
 public:
  // `in_front`: words before the command line (`ip netns exec …`).
  explicit test_node(std::vector<std::string> in_front = {}, std::vector<std::string> environment = {});

  [[nodiscard]] child_process& process() { return process_; }

  // Sends a command and returns its answer, one line. Throws when none comes.
  std::string ask(const std::string& command, std::chrono::milliseconds deadline = patience);
  // The same for commands that must answer "ok": throws with the answer otherwise.
  void must(const std::string& command);
  // Sends a command and does not wait.
  void tell(const std::string& command) { process_.write_line(command); }
  [[nodiscard]] std::string answer(std::chrono::milliseconds deadline = patience);

  // Counts of a background reader (`collect`).
  struct collected {
    std::uint64_t received = 0;
    std::uint64_t last_value = 0;
    std::uint64_t missed = 0;     // sum of message::missed()
    std::uint64_t gaps = 0;       // places where a value is not its predecessor's plus one, within one stream
    std::uint64_t backwards = 0;  // places where a value is not above its predecessor's, within one stream
    std::uint64_t corrupt = 0;    // samples that are not what `stream` sends
    std::int64_t median_age_us = 0;
    std::int64_t max_age_us = 0;
    std::uint64_t restarts = 0;  // places where another stream took over
  };
  [[nodiscard]] collected stats(const std::string& topic);

  struct streamed {
    std::uint64_t sent = 0;
    std::uint64_t failed = 0;
    std::int64_t slowest_us = 0;  // of one send
    bool done = false;            // `count` samples were sent
  };
  [[nodiscard]] streamed progress(const std::string& topic);

 private:
  child_process process_;
};

[[nodiscard]] std::string to_text(transport_set set);  // "ipc,tcp", or "any"
[[nodiscard]] transport_set to_transports(const std::string& text);

}  // namespace orc::test
