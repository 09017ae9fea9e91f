// What `orc top` does to the terminal, and what cannot reach it.
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>
#include <string>

#include "support/top_robot.h"
#include "tools/terminal/display_width.h"

using namespace orc::test;

namespace {

// A thread of the process in which a fault runs no handler; 0: it has none.
[[maybe_unused]] pid_t thread_that_blocks_faults(pid_t process) {
  for (const auto& task : std::filesystem::directory_iterator("/proc/" + std::to_string(process) + "/task")) {
    std::ifstream status(task.path() / "status");
    for (std::string line; std::getline(status, line);) {
      if (!line.starts_with("SigBlk:")) continue;
      const auto blocked = std::stoull(line.substr(7), nullptr, 16);
      if ((blocked >> (SIGSEGV - 1) & 1) != 0) return std::stoi(task.path().filename());
    }
  }
  return 0;
}

}  // namespace

TEST_CASE("orc top: the terminal is as before, whatever ends or stops the program") {
  if (!tmux::is_installed()) return skip("no tmux");
  top_robot on;
  on.stream("arm/state", 100, 100);
  tmux& shown = on.terminal();
  for (const int number : {SIGTERM, SIGHUP, SIGSEGV, SIGABRT, SIGKILL}) {
    INFO("signal " << number);
    on.start();
    REQUIRE(::kill(on.pid(), number) == 0);
    on.check_restored();
  }
  on.start();
  shown.press({"C-c"});
  on.check_restored();
}

#if defined(__x86_64__)
TEST_CASE("orc top: a crash in a thread that blocks all signals restores the terminal") {
  if (!tmux::is_installed()) return skip("no tmux");
  top_robot on;
  on.stream("arm/state", 100, 100);
  on.start();
  REQUIRE(on.terminal().shows("arm/state"));
  on.terminal().press({"Enter"});  // makes a participant, whose thread blocks all signals
  CHECK(on.terminal().shows("\nsample "));
  const pid_t thread = thread_that_blocks_faults(on.pid());
  REQUIRE(thread > 0);
  if (::ptrace(PTRACE_ATTACH, thread, nullptr, nullptr) != 0) {
    on.terminal().press({"q"});
    return skip("no permission to trace another process");
  }
  REQUIRE(::waitpid(thread, nullptr, __WALL) == thread);
  user_regs_struct registers{};
  REQUIRE(::ptrace(PTRACE_GETREGS, thread, nullptr, &registers) == 0);
  registers.rip = 8;           // no code is there
  registers.orig_rax = ~0ULL;  // no system call is begun again
  REQUIRE(::ptrace(PTRACE_SETREGS, thread, nullptr, &registers) == 0);
  REQUIRE(::ptrace(PTRACE_DETACH, thread, nullptr, nullptr) == 0);
  // The shell may say so while the screen is still the other one, where it is lost.
  on.check_left();
  on.terminal().type_line("echo ended by $(kill -l $?)");
  CHECK(on.terminal().shows("ended by SEGV"));
  on.check_restored();
}
#endif

TEST_CASE("orc top: Ctrl-Z and kill -STOP give the terminal to the shell, and fg takes it again") {
  if (!tmux::is_installed()) return skip("no tmux");
  top_robot on;
  on.stream("arm/state", 100, 100);
  on.start();
  tmux& shown = on.terminal();
  shown.press({"C-z"});
  CHECK(shown.shows("Stopped"));
  on.check_restored();
  shown.type_line("clear; fg");
  CHECK(shown.shows("arm/state"));
  CHECK(shown.state("#{alternate_on} #{cursor_flag}") == "1 0\n");

  REQUIRE(::kill(on.pid(), SIGSTOP) == 0);
  CHECK(shown.shows("Stopped"));
  shown.type_line("clear; fg");
  CHECK(shown.waits_for([](const std::string& seen) {
    return seen.find("arm/state") != std::string::npos && seen.find("q quit") != std::string::npos;
  }));
  shown.press({"-l", "/none"});
  CHECK(shown.shows("1 Topics 0/1"));
  shown.press({"C-c"});
  on.check_restored();
}

TEST_CASE("orc top: a terminal that is resized is drawn anew") {
  if (!tmux::is_installed()) return skip("no tmux");
  top_robot on;
  on.stream("arm/state", 100, 100);
  on.start("--color never");
  tmux& shown = on.terminal();
  CHECK(shown.waits_for([](const std::string& seen) {
    return seen.find("arm/state") != std::string::npos && seen.find("PUBLISHER") == std::string::npos;
  }));
  shown.resize(140, 40);
  CHECK(shown.waits_for([](const std::string& seen) {
    return seen.find("PUBLISHER") != std::string::npos && seen.find("TYPE") != std::string::npos &&
           std::count(seen.begin(), seen.end(), '\n') == 40 && seen.rfind("q quit") > seen.size() - 40;
  }));
  shown.resize(30, 6);
  CHECK(shown.waits_for([](const std::string& seen) {
    return seen.find("arm/state") != std::string::npos && seen.find("RATE") != std::string::npos &&
           seen.find("PUBLISHER") == std::string::npos && std::count(seen.begin(), seen.end(), '\n') == 6;
  }));
  // A terminal that loses rows scrolls, and what did not change must move back.
  shown.resize(80, 24);
  CHECK(shown.waits_for([](const std::string& seen) { return seen.starts_with("orc top"); }));
  shown.resize(80, 12);
  CHECK(shown.waits_for([](const std::string& seen) {
    return seen.starts_with("orc top") && std::count(seen.begin(), seen.end(), '\n') == 12 &&
           seen.rfind("q quit") > seen.size() - 80;
  }));
  shown.press({"q"});
  on.check_restored();
}

TEST_CASE("orc top: names and samples cannot reach the terminal's controls") {
  if (!tmux::is_installed()) return skip("no tmux");
  top_robot on(140, 24);
  orc::participant wide(on.broker().options("机器人 \x1b]0;owned\x07\x9b"));
  orc::topic_options typed;
  typed.type = {.name = "Evil", .schema_encoding = "jsonschema", .message_encoding = "json", .schema = "{}"};
  REQUIRE(wide.register_topic("evil", typed));
  const std::string sample = R"({"a":"\u001b[2J\u009b31m\u202e","b\u001b]0;owned\u0007":1})";
  REQUIRE(wide.send_msg("evil", sample.data(), sample.size()));
  orc::participant plain(on.broker().options("plain"));
  REQUIRE(plain.register_topic("tame"));
  const std::string raw =
      "\x1b[2J\x1b]0;owned\x07\x9b"
      "31m";
  REQUIRE(plain.send_msg("tame", raw.data(), raw.size()));
  on.start();
  tmux& shown = on.terminal();
  // The columns stand below each other, though one name is wider than its characters.
  const auto column_of_transport = [](const std::string& seen, const std::string& row) {
    std::smatch found;
    const std::regex line("(^|\n)(" + row + " [^\n]*)\\(ipc");
    return std::regex_search(seen, found, line) ? orc::terminal::display_width(found[2].str()) : 0;
  };
  const bool aligned = shown.waits_for([&](const std::string& seen) {
    const auto column = column_of_transport(seen, "evil");
    return column != 0 && column == column_of_transport(seen, "tame") && seen.find("机器人 \\") != std::string::npos;
  });
  INFO(shown.seen());
  CHECK(aligned);
  shown.press({"Enter"});
  CHECK(shown.shows("a: \"\\"));
  INFO(shown.seen());
  CHECK_THAT(shown.seen(), contains("topic evil"));
  CHECK_THAT(shown.seen(), contains("x1b"));
  shown.press({"Escape"});
  CHECK(shown.shows("TOPIC"));
  shown.press({"Down", "Enter"});
  CHECK(shown.shows("1b 5b 32 4a"));
  CHECK(shown.state("#{pane_title}").find("owned") == std::string::npos);
  shown.press({"q"});
  on.check_restored();
}
