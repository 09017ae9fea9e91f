// A traced program is killed and replayed: without broker and links, bit by bit.
#include <filesystem>
#include <fstream>

#include "support/orc_tool.h"

using namespace orc;
using namespace orc::test;
using namespace std::chrono_literals;

namespace {

// A robot's topics at 1 kHz. "test/other" is slower, so that a poll finds one or both.
class robot {
 public:
  robot(const broker_process& where, transport_set over) {
    participant_options options = where.options("robot");
    options.transports = over;
    node_.emplace(std::move(options));
    REQUIRE(node_->register_topic("test/state"));
    REQUIRE(node_->register_topic("test/other"));
    thread_ = std::jthread([this](const std::stop_token& stop) {
      struct {
        std::uint64_t count = 0;
        float q[7] = {};
      } state;
      for (; !stop.stop_requested(); ++state.count) {
        state.q[3] = static_cast<float>(state.count + 1);
        (void)node_->send_msg("test/state", &state, sizeof state);
        if (state.count % 3 != 0) (void)node_->send_msg("test/other", &state, sizeof state);
        std::this_thread::sleep_for(1ms);
      }
    });
  }

 private:
  std::optional<orc::participant> node_;
  std::jthread thread_;
};

class scene {
 public:
  explicit scene(transport_set over = {}) : over_(over) { robot_.emplace(broker_, over_); }

  // Runs the program until its trace is worth a replay, then kills it. The broker and the robot die on the way.
  void trace(std::vector<std::string> words, bool kills = true) {
    words.insert(words.begin(), program("orc_test_replayed"));
    child_process traced(words, {"ORC_BROKER=" + broker_.endpoint(), "ORC_TRACE=" + file()});
    if (kills) {
      robot_.reset();
      broker_.restart();
      robot_.emplace(broker_, over_);
    }
    REQUIRE(traced.wait_for_output("enough"));
    traced.kill();
  }

  [[nodiscard]] tool::outcome replay(const std::string& arguments, const std::string& options = "") const {
    const broker_process nowhere(broker_process::at::nowhere);
    return tool(nowhere).run("$orc replay " + options + " " + file() + " -- " + program("orc_test_replayed") + " " +
                             arguments);
  }

  [[nodiscard]] std::string file() const { return directory_.file("trace"); }
  [[nodiscard]] broker_process& broker() { return broker_; }

 private:
  transport_set over_;
  broker_process broker_;
  detail::temporary_directory directory_;
  std::optional<robot> robot_;
};

}  // namespace

TEST_CASE("replay: a killed controller sends the same commands again, over ipc and shm, twenty times") {
  for (const transport_set over : {transport_set{transport::ipc}, transport_set{transport::shm, transport::ipc}}) {
    scene stage(over);
    stage.trace({"control"});
    for (int i = 0; i < 20; ++i) {
      const auto done = stage.replay("control");
      INFO(done.out << done.err);
      REQUIRE(done.exit_code == 0);
      REQUIRE(done.out.find(": equal\n") != std::string::npos);
    }
  }
}

TEST_CASE("replay: a changed constant is found at the first sample that differs, with the field") {
  scene stage;
  stage.trace({"control"});
  const auto done = stage.replay("control 2.5");
  INFO(done.out << done.err);
  CHECK(done.exit_code == 1);
  CHECK(done.out.find("send on topic test/command: field tau[3] was ") != std::string::npos);
  const auto all = stage.replay("control 2.5", "--keep-going");
  INFO(all.out << all.err);
  CHECK(all.exit_code == 1);
  CHECK(all.out.find(" differ\n") != std::string::npos);
}

TEST_CASE("replay: a poll loop over two descriptors takes the same turns") {
  scene stage;
  stage.trace({"poll"});
  for (int i = 0; i < 20; ++i) {
    const auto done = stage.replay("poll");
    INFO(done.out << done.err);
    REQUIRE(done.exit_code == 0);
  }
}

TEST_CASE("replay: threads on topics of their own keep their order") {
  scene stage;
  stage.trace({"threads"});
  for (int i = 0; i < 20; ++i) {
    const auto done = stage.replay("threads");
    INFO(done.out << done.err);
    REQUIRE(done.exit_code == 0);
  }
}

TEST_CASE("replay: two threads on one topic are reported beforehand") {
  scene stage;
  stage.trace({"one-topic"});
  const auto done = stage.replay("one-topic");
  CHECK(done.exit_code == 6);
  CHECK(done.err.find("several threads receive on topic test/state") != std::string::npos);
  CHECK(done.err.find("several threads begin with recv on topic test/state at a time") != std::string::npos);
}

TEST_CASE("replay: a thread that waits for a lock of a waiting thread ends the replay with a reason") {
  scene stage;
  stage.trace({"locks", "one"}, false);
  CHECK(stage.replay("locks one").exit_code == 0);
  const auto done = stage.replay("locks two", "--patience 1");
  INFO(done.out << done.err);
  CHECK(done.exit_code == 6);
  CHECK(done.err.find("in the trace it called send on topic test/command") != std::string::npos);
  CHECK(done.err.find("lock") != std::string::npos);
}

TEST_CASE("replay: a trace that is cut while it is replayed ends the replay with a reason") {
  scene stage;
  stage.trace({"cut"}, false);
  const auto done = stage.replay("cut");
  INFO(done.out << done.err);
  CHECK(done.exit_code == 1);
  CHECK(done.out.find("signal") == std::string::npos);
  CHECK(done.err.find("the trace was changed or cut while it is replayed") != std::string::npos);
}

TEST_CASE("replay: a program without a log reads once on stderr why it is not traced") {
  const detail::temporary_directory directory;
  const broker_process nowhere(broker_process::at::nowhere);
  const tool shell(nowhere);
  std::ofstream(directory.file("existing")) << "precious";
  const auto count = [](const std::string& text) {
    std::size_t found = 0;
    for (auto at = text.find("orc: "); at != std::string::npos; at = text.find("orc: ", at + 1)) ++found;
    return found;
  };
  for (const std::string& file : {directory.file("none/trace"), directory.file("existing")}) {
    const auto done = shell.run("ORC_TRACE=" + file + " " + program("orc_test_replayed") + " mute");
    INFO(done.err);
    CHECK(done.exit_code == 0);
    CHECK(done.out == "went on\n");
    CHECK(count(done.err) == 1);
    CHECK(done.err.find("is not traced: ") != std::string::npos);
    CHECK(done.err.find(file) != std::string::npos);
  }
  const auto full =
      shell.run("ulimit -f 4096; ORC_TRACE=" + directory.file("full") + " " + program("orc_test_replayed") + " mute");
  INFO(full.err);
  CHECK(full.exit_code == 0);
  CHECK(count(full.err) == 1);
  CHECK(full.err.find("is incomplete from here") != std::string::npos);
}

TEST_CASE("replay: loans, forwarded messages, and a program that ends by itself") {
  for (const transport_set over : {transport_set{transport::ipc}, transport_set{transport::shm, transport::ipc}}) {
    scene stage(over);
    child_process traced({program("orc_test_replayed"), "forward"},
                         {"ORC_BROKER=" + stage.broker().endpoint(), "ORC_TRACE=" + stage.file()});
    REQUIRE(traced.wait_for_end() == 0);
    const auto done = stage.replay("forward");
    INFO(done.out << done.err);
    CHECK(done.exit_code == 0);
    CHECK(done.err.empty());  // the trace is complete
    CHECK(stage.replay("forward", "--pace original").exit_code == 0);
    const auto other = stage.replay("control");
    CHECK(other.exit_code == 1);
    CHECK(other.out.find("the program calls ") != std::string::npos);
    CHECK(other.out.find("; in the trace it called ") != std::string::npos);
  }
}

TEST_CASE("replay: a trace that was cut anywhere gives a clear answer") {
  scene stage;
  stage.trace({"control"}, false);
  const auto whole = std::filesystem::file_size(stage.file());
  for (const std::uintmax_t size : {std::uintmax_t{0}, std::uintmax_t{7}, std::uintmax_t{4095}, std::uintmax_t{4096},
                                    std::uintmax_t{4100}, std::uintmax_t{20'001}, std::uintmax_t{90'000}, whole / 16}) {
    INFO(size);
    std::filesystem::resize_file(stage.file(), whole);
    const std::string cut = stage.file() + std::to_string(size);
    std::filesystem::copy_file(stage.file(), cut);
    std::filesystem::resize_file(cut, size);
    const broker_process nowhere(broker_process::at::nowhere);
    const auto done = tool(nowhere).run("$orc replay " + cut + " -- " + program("orc_test_replayed") + " control");
    INFO(done.out << done.err);
    CHECK((done.exit_code == 0 || done.exit_code == 1));
    CHECK_FALSE(done.err.empty());
    if (size > 20'000) CHECK(done.exit_code == 0);
  }
}

TEST_CASE("replay: an existing file is not overwritten, and the program is not disturbed") {
  scene stage;
  std::ofstream(stage.file()) << "precious";
  child_process traced({program("orc_test_replayed"), "control"},
                       {"ORC_BROKER=" + stage.broker().endpoint(), "ORC_TRACE=" + stage.file()});
  REQUIRE(traced.wait_for_output("enough"));
  CHECK(traced.output().find("is not traced") != std::string::npos);
  traced.kill();
  std::string kept;
  std::getline(std::ifstream(stage.file()) >> std::ws, kept);
  CHECK(kept == "precious");
  const auto done = stage.replay("control");
  CHECK(done.exit_code == 1);
  CHECK(done.err.find("is no trace") != std::string::npos);
}

TEST_CASE("orc replay: usage") {
  scene stage;
  stage.trace({"control"}, false);
  const broker_process nowhere(broker_process::at::nowhere);
  const tool orc(nowhere);
  const auto list = orc.run("$orc replay --list " + stage.file());
  CHECK(list.exit_code == 0);
  CHECK(list.out.find("test/command") != std::string::npos);
  CHECK(list.out.find(", of 1 thread, in ") != std::string::npos);
  CHECK(orc.run("$orc replay " + stage.file()).exit_code == 2);
  CHECK(orc.run("$orc replay " + stage.file() + " -- /nonexistent/program").exit_code == 1);
  const auto stranger = orc.run("$orc replay " + stage.file() + " -- true");
  CHECK(stranger.exit_code == 1);
  CHECK(stranger.err.find("participant") != std::string::npos);
}
