// `orc play` at a terminal: keys, the position bar, and the terminal's modes afterwards.
#include <signal.h>

#include <string>
#include <vector>

#include "base/files/temporary_directory.h"
#include "support/orc_tool.h"
#include "support/pseudo_terminal.h"
#include "support/recording_file.h"

using namespace orc;
using namespace orc::test;

namespace {

constexpr const char* right = "\x1b[C";
constexpr const char* left = "\x1b[D";
constexpr const char* shift_right = "\x1b[1;2C";
constexpr const char* page_up = "\x1b[5~";

// A minute with a sample each second: "0" to "60". Keys decide what happens before the next one.
std::string write_minute(const detail::temporary_directory& scratch) {
  std::string path = scratch.file("run.mcap");
  recording_file file(path);
  for (int i = 0; i <= 60; ++i) file.sample("count", 1000.0 * i, std::to_string(i));
  file.close();
  return path;
}

class played {
 public:
  played(const broker_process& broker, std::vector<std::string> words)
      : node_(broker.options("listener")), terminal_(with_tool(std::move(words)), {"ORC_BROKER=" + broker.endpoint()}) {
    request_options all;
    all.conflate = 0;
    all.depth = 1000;
    REQUIRE(node_.request_topic("count", all).result());
  }
  std::string next() {
    const message sample = node_.recv_msg("count", patience_ms);
    REQUIRE(sample);
    return {static_cast<const char*>(sample.data()), sample.size()};
  }
  [[nodiscard]] bool is_silent() { return node_.recv_msg("count", 0).status() == errc::nothing_new; }
  pseudo_terminal& terminal() { return terminal_; }

 private:
  static std::vector<std::string> with_tool(std::vector<std::string> words) {
    words.insert(words.begin(), program("orc"));
    return words;
  }
  orc::participant node_;
  pseudo_terminal terminal_;
};

}  // namespace

TEST_CASE("orc play: keys pause, step, jump, and change the rate") {
  const broker_process broker;
  const detail::temporary_directory scratch;
  played run(broker, {"play", write_minute(scratch), "--paused", "--wait-for-subscribers"});
  auto& terminal = run.terminal();
  REQUIRE(terminal.wait_for("x1  paused"));
  CHECK_FALSE(terminal.is_ordinary());
  CHECK(run.is_silent());
  terminal.press(".");
  CHECK(run.next() == "0");
  terminal.press("s.");
  CHECK(run.next() == "1");
  CHECK(run.next() == "2");
  REQUIRE(terminal.wait_for("0:02.0 ["));
  // Each jump brings the newest sample before the new position, also while paused.
  terminal.press(shift_right);
  CHECK(run.next() == "11");
  REQUIRE(terminal.wait_for("0:12.0 ["));
  terminal.press(right);
  CHECK(run.next() == "12");
  terminal.press(left);
  CHECK(run.next() == "11");
  terminal.press(page_up);
  CHECK(run.next() == "1");
  terminal.press(page_up);  // the beginning: nothing was before it
  REQUIRE(terminal.wait_for("0:00.0 ["));
  terminal.press(".");
  CHECK(run.next() == "0");
  CHECK(run.is_silent());
  terminal.press("+");
  REQUIRE(terminal.wait_for("x2  paused"));
  terminal.press("+++++++");
  REQUIRE(terminal.wait_for("x100  paused"));
  terminal.press("-");
  REQUIRE(terminal.wait_for("x50  paused"));
  terminal.press(" ");
  for (int i = 1; i <= 60; ++i) CHECK(run.next() == std::to_string(i));
  CHECK(terminal.wait_for_end() == 0);
  CHECK(terminal.is_ordinary());
}

TEST_CASE("orc play: stepped to the end, it stays there until q or a jump back") {
  const broker_process broker;
  const detail::temporary_directory scratch;
  played run(broker, {"play", write_minute(scratch), "--paused", "--start", "60", "--wait-for-subscribers"});
  auto& terminal = run.terminal();
  REQUIRE(terminal.wait_for("paused"));
  CHECK(run.next() == "59");
  terminal.press(".");
  CHECK(run.next() == "60");
  REQUIRE(terminal.wait_for("x1  end"));
  for (const char* key : {".", " "}) {
    terminal.press(key);
    REQUIRE(terminal.wait_for("orc: the end: <- jumps back, q quits"));
  }
  CHECK(run.is_silent());
  terminal.press(left);  // the range begins there
  CHECK(run.next() == "59");
  terminal.press("q");
  CHECK(terminal.wait_for_end() == 0);
}

TEST_CASE("orc play: it shows its keys at the start, and on ?") {
  const broker_process broker;
  const detail::temporary_directory scratch;
  pseudo_terminal terminal({program("orc"), "play", write_minute(scratch), "--paused"},
                           {"ORC_BROKER=" + broker.endpoint()});
  REQUIRE(terminal.wait_for("orc: Space pauses, . steps"));
  REQUIRE(terminal.wait_for("paused"));
  terminal.press("?");
  REQUIRE(terminal.wait_for("\r\x1b[Korc: Space pauses, . steps"));
  terminal.press("q");
  CHECK(terminal.wait_for_end() == 0);
}

TEST_CASE("orc play: q ends it, and the bar shows the position in the width of the terminal") {
  const broker_process broker;
  const detail::temporary_directory scratch;
  const std::string file = write_minute(scratch);
  pseudo_terminal terminal({program("orc"), "play", file, "--paused", "--start", "30"},
                           {"ORC_BROKER=" + broker.endpoint()}, 50);
  REQUIRE(terminal.wait_for("\r0:30.0 [>--------------------] 1:00.0  x1  paused\x1b[K"));
  terminal.press("\x1b[C\x1b[C\x1b[C\x1b[C\x1b[C\x1b[C\x1b[C\x1b[C\x1b[C\x1b[C");
  REQUIRE(terminal.wait_for("0:40.0 [======"));
  terminal.press("q");
  CHECK(terminal.wait_for_end() == 0);
  CHECK(terminal.is_ordinary());
}

TEST_CASE("orc play: every signal that ends it restores the terminal") {
  const broker_process broker;
  const detail::temporary_directory scratch;
  const std::string file = write_minute(scratch);
  const auto end_by = [&](int number) {
    pseudo_terminal terminal({program("orc"), "play", file, "--paused"}, {"ORC_BROKER=" + broker.endpoint()});
    REQUIRE(terminal.wait_for("paused"));
    CHECK_FALSE(terminal.is_ordinary());
    if (number == SIGINT) {
      terminal.press("\x03");
    } else {
      ::kill(terminal.pid(), number);
    }
    const int outcome = terminal.wait_for_end();
    CHECK(terminal.is_ordinary());
    return outcome;
  };
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) CHECK(end_by(number) == 130);
  for (const int number : {SIGQUIT, SIGABRT}) CHECK(end_by(number) == -number);
}

TEST_CASE("orc play: Ctrl-Z restores the terminal and stops the time, and the player goes on where it was") {
  const broker_process broker;
  const detail::temporary_directory scratch;
  const std::string file = write_minute(scratch);
  // A shell that controls jobs, as a person has one.
  pseudo_terminal terminal({"/bin/bash", "--norc", "-i"},
                           {"ORC_BROKER=" + broker.endpoint(), "PS1=ready> ", "TERM=dumb", "HISTFILE="});
  REQUIRE(terminal.wait_for("ready> "));
  terminal.press(program("orc") + " play " + file + " --paused --start 10\n");
  REQUIRE(terminal.wait_for("0:10.0 [>"));
  terminal.press(" ");
  REQUIRE(terminal.wait_for("playing"));
  terminal.press("\x1a");
  REQUIRE(terminal.wait_for("Stopped"));
  REQUIRE(terminal.wait_for("ready> "));
  terminal.press("stty -a\n");
  REQUIRE(terminal.wait_for(" icanon"));
  REQUIRE(terminal.wait_for(" echo "));
  REQUIRE(terminal.wait_for("ready> "));
  terminal.press("fg\n");
  REQUIRE(terminal.wait_for("playing"));
  terminal.press(" ");
  REQUIRE(terminal.wait_for("paused"));
  terminal.press("q");
  REQUIRE(terminal.wait_for("ready> "));
  terminal.press("stty -a; exit\n");
  REQUIRE(terminal.wait_for(" icanon"));
  REQUIRE(terminal.wait_for(" echo "));
  CHECK(terminal.wait_for_end() == 0);
}

TEST_CASE("orc play: without a terminal on standard input there are no keys and no bar") {
  const broker_process broker;
  const tool orc(broker);
  const detail::temporary_directory scratch;
  recording_file file(scratch.file("run.mcap"));
  file.sample("count", 0, "0").sample("count", 50, "1");
  file.close();
  child_process play = orc.start({"play", scratch.file("run.mcap")});
  play.write_line("q q q");
  CHECK(play.read_all().empty());
  CHECK(exit_code_of(play) == 0);
}
