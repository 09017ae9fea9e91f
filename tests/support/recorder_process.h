// `orc record` as a child of a test.
#pragma once

#include <signal.h>

#include <string>
#include <utility>
#include <vector>

#include "support/orc_tool.h"

namespace orc::test {

class recorder_process {
 public:
  // Returns when it records.
  recorder_process(const tool& orc, std::vector<std::string> words)
      : process_(orc.start(with_command(std::move(words)))) {
    const bool is_ready = process_.wait_for_output("orc: recording ");
    INFO(process_.output());
    REQUIRE(is_ready);
  }

  [[nodiscard]] child_process& process() { return process_; }
  // Ends it, and returns its exit code.
  int end(int signal = SIGINT) {
    process_.send_signal(signal);
    return process_.wait_for_end();
  }

 private:
  static std::vector<std::string> with_command(std::vector<std::string> words) {
    words.insert(words.begin(), "record");
    return words;
  }
  child_process process_;
};

// A publisher in the test's own process.
class source {
 public:
  source(const broker_process& broker, std::string topic, const topic_options& options = {})
      : topic_(std::move(topic)), node_(broker.options("source")) {
    REQUIRE(node_.register_topic(topic_, options));
  }

  // Waits until the recorder listens, too.
  [[nodiscard]] bool is_heard(std::size_t readers = 1) {
    return wait_until([&] { return node_.publisher(topic_).readers() >= readers; });
  }
  void send(const std::string& text) { REQUIRE(node_.send_msg(topic_, text.data(), text.size())); }
  // "PREFIX 1", "PREFIX 2", …
  void send_many(int count, const std::string& prefix = "sample ") {
    for (int i = 1; i <= count; ++i) send(prefix + std::to_string(i));
  }
  [[nodiscard]] orc::participant& node() { return node_; }

 private:
  const std::string topic_;
  orc::participant node_;
};

}  // namespace orc::test
