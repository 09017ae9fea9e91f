// A terminal that a person would see: a shell in tmux, whose screen can be read.
#pragma once

#include <unistd.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "base/files/temporary_directory.h"
#include "support/catch.h"
#include "support/child_process.h"
#include "support/wait_until.h"

namespace orc::test {

// A server of its own, which ends with the object and with the test.
class tmux {
 public:
  [[nodiscard]] static bool is_installed() {
    std::string why;
    return run_command({"tmux", "-V"}, why);
  }

  // `environment` holds NAME=value, for the shell.
  explicit tmux(const std::vector<std::string>& environment, int columns = 80, int rows = 24)
      : server_({"tmux", "-u", "-D", "-f", "/dev/null", "-S", socket()}, {"LC_ALL=C.UTF-8", "SHELL=/bin/sh"}) {
    REQUIRE(wait_until([&] { return ::access(socket().c_str(), F_OK) == 0; }));
    std::vector<std::string> start = {"new-session", "-d", "-x", std::to_string(columns), "-y", std::to_string(rows)};
    for (const std::string& each : environment) start.insert(start.end(), {"-e", each});
    start.insert(start.end(), {"env PS1='ready> ' bash --norc --noprofile"});
    // The socket is there before the server answers.
    REQUIRE(wait_until([&] { return run_command(command(start), why_); }));
    REQUIRE(shows("ready>"));
  }

  // Types a line into the shell.
  void type_line(const std::string& line) {
    press({"-l", line});
    press({"Enter"});
  }
  // Presses keys by tmux's names: "Enter", "Escape", "C-c", "NPage"; after "-l" the text itself.
  void press(std::vector<std::string> keys) {
    keys.insert(keys.begin(), "send-keys");
    must(keys);
  }
  void resize(int columns, int rows) {
    must({"resize-window", "-x", std::to_string(columns), "-y", std::to_string(rows)});
  }

  // What the screen shows now, line by line, without blanks at their ends.
  [[nodiscard]] std::string screen() { return ask({"capture-pane", "-p"}); }
  // Waits until the screen shows this text.
  [[nodiscard]] bool shows(const std::string& text) {
    return waits_for([&](const std::string& seen) { return seen.find(text) != std::string::npos; });
  }
  // Waits until the screen is as `condition` wants it. CAPTURE the result with seen() for the message of a failure.
  template <class Condition>
  [[nodiscard]] bool waits_for(Condition&& condition) {
    return wait_until([&] { return condition(seen_ = screen()); });
  }
  [[nodiscard]] const std::string& seen() const { return seen_; }

  // The state of the terminal by tmux's format, such as "#{alternate_on} #{cursor_flag} #{wrap_flag}".
  [[nodiscard]] std::string state(const std::string& format) { return ask({"display-message", "-p", format}); }

  // The process in the terminal's foreground, when it has this name.
  [[nodiscard]] std::string ask(const std::vector<std::string>& words) {
    child_process client(command(words));
    client.close_input();
    std::string answer = client.read_all();
    static_cast<void>(client.wait());
    return answer;
  }

 private:
  [[nodiscard]] std::string socket() const { return directory_.file("socket"); }
  [[nodiscard]] std::vector<std::string> command(const std::vector<std::string>& words) const {
    std::vector<std::string> all = {"tmux", "-u", "-S", socket()};
    all.insert(all.end(), words.begin(), words.end());
    return all;
  }
  void must(const std::vector<std::string>& words) {
    if (!run_command(command(words), why_)) FAIL(why_);
  }

  detail::temporary_directory directory_;
  child_process server_;
  std::string why_;
  std::string seen_;
};

}  // namespace orc::test
