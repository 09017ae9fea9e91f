// A program that a test starts and speaks to through pipes. The destructor kills and reaps it. It also dies with the
// thread that started it, so start children from the test's own thread.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/files/unique_fd.h"
#include "base/process/child_process.h"
#include "support/budget.h"

namespace orc::test {

class child_process {
 public:
  enum class errors { to_output, pass_through };  // where the child's standard error goes

  // argv[0] is a path or is looked up in PATH; `environment` holds NAME=value, added to the test's own.
  explicit child_process(std::vector<std::string> argv, std::vector<std::string> environment = {},
                         errors standard_error = errors::to_output);
  ~child_process() { kill(); }
  child_process(child_process&& other) noexcept = default;
  child_process& operator=(child_process&& other) noexcept;

  [[nodiscard]] pid_t pid() const { return child_.pid(); }
  void write_line(std::string_view line) const;
  // Returns the next line of its output without the newline; nothing at the end of its output or after the deadline.
  [[nodiscard]] std::optional<std::string> read_line(std::chrono::milliseconds deadline = patience);
  // Returns all output up to its end.
  [[nodiscard]] std::string read_all(std::chrono::milliseconds deadline = patience);
  // Reads until `text` has come, and keeps the output for read_line(). False: the output ended, or the time is up.
  [[nodiscard]] bool wait_for_output(const std::string& text, std::chrono::milliseconds deadline = patience);
  // The output that wait_for_output() kept.
  [[nodiscard]] const std::string& output() const { return unread_; }

  void send_signal(int number);
  void freeze();  // sends SIGSTOP and waits until the program has stopped
  void thaw();    // SIGCONT
  void kill() { child_.kill(); }
  void close_input() { input_.reset(); }
  // Status as of waitpid(2); nothing when it still runs at the deadline.
  [[nodiscard]] std::optional<int> wait(std::chrono::milliseconds deadline = patience) { return child_.wait(deadline); }
  // Waits for the end of its output, then for its own end. Returns the exit status, or minus the number of the signal
  // that ended it.
  int wait_for_end(std::chrono::milliseconds deadline = patience);
  // Sends these signals again and again until it ends, as wait_for_end().
  int end_by(std::initializer_list<int> numbers);
  [[nodiscard]] bool running() { return !child_.status(); }

 private:
  bool read_some(std::chrono::steady_clock::time_point end);

  detail::child_process child_;
  detail::unique_fd input_;
  detail::unique_fd output_;
  std::string unread_;
};

// Runs a command to its end. False: it failed; `why` has the command and its output.
[[nodiscard]] bool run_command(std::vector<std::string> command, std::string& why);

// A program of this build: orc-broker, orc, orc_test_node.
[[nodiscard]] std::string program(const std::string& name);

}  // namespace orc::test
