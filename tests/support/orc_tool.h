// The command-line tool as scripts and people use it: real processes against a real broker.
#pragma once

#include <sys/wait.h>

#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "orc.h"
#include "support/broker_process.h"
#include "support/catch.h"
#include "support/child_process.h"
#include "support/wait_until.h"

namespace orc::test {

// The tool, with ORC_BROKER set.
class tool {
 public:
  struct outcome {
    int exit_code = -1;
    std::string out;
    std::string err;
  };

  explicit tool(const broker_process& broker)
      : environment_{"orc=" + program("orc"), "ORC_BROKER=" + broker.endpoint(),
                     "XDG_RUNTIME_DIR=" + broker.directory().path().string()} {}

  // In a shell, where it is $orc.
  [[nodiscard]] outcome run(const std::string& command) const {
    const detail::temporary_directory scratch;
    child_process shell({"/bin/bash", "-c", "{ " + command + "\n} 2> " + scratch.file("err")}, environment_);
    shell.close_input();
    outcome done;
    done.out = shell.read_all();
    const auto status = shell.wait();
    if (status && WIFEXITED(*status)) done.exit_code = WEXITSTATUS(*status);
    std::ostringstream err;
    err << std::ifstream(scratch.file("err")).rdbuf();
    done.err = err.str();
    return done;
  }

  // Without a shell around it: signals go to the tool.
  [[nodiscard]] child_process start(std::vector<std::string> words) const {
    words.insert(words.begin(), program("orc"));
    return child_process(std::move(words), environment_);
  }

 private:
  std::vector<std::string> environment_;
};

inline int exit_code_of(child_process& process) {
  const auto status = process.wait();
  return status && WIFEXITED(*status) ? WEXITSTATUS(*status) : -1;
}

inline bool is_json(const tool& orc, const std::string& text) {
  const detail::temporary_directory scratch;
  std::ofstream(scratch.file("text")) << text;
  // Without python3 the shape has to do.
  const std::string file = scratch.file("text");
  const auto checked = orc.run("if command -v python3 >/dev/null; then python3 -m json.tool < " + file +
                               "; else grep -q '^{.*}$' " + file + "; fi");
  return checked.exit_code == 0;
}

// Sends "sample N" a hundred times a second until the end.
class stream {
 public:
  stream(const broker_process& where, const std::string& topic) : node_(where.options("streamer")) {
    REQUIRE(node_.register_topic(topic));
    thread_ = std::jthread([this, topic](const std::stop_token& stop) {
      for (int i = 1; !stop.stop_requested(); ++i) {
        const std::string text = "sample " + std::to_string(i);
        static_cast<void>(node_.send_msg(topic, text.data(), text.size()));
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
      }
    });
  }

 private:
  orc::participant node_;
  std::jthread thread_;
};

// A subscriber of everything that is sent, in order.
class recorder {
 public:
  recorder(const broker_process& where, std::string topic)
      : topic_(std::move(topic)), node_(where.options("recorder")) {
    request_options in_order;
    in_order.conflate = 0;
    in_order.depth = 1000;
    REQUIRE(node_.request_topic(topic_, in_order).result());
  }

  [[nodiscard]] std::string next() {
    const message sample = node_.recv_msg(topic_, patience_ms);
    return sample ? std::string(static_cast<const char*>(sample.data()), sample.size()) : "(nothing came)";
  }

 private:
  std::string topic_;
  orc::participant node_;
};

}  // namespace orc::test
