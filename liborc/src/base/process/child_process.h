// A child process that never outlives its parent. The destructor ends it and waits for it, by its pid. The kernel ends
// it when the thread that started it ends, so start children from a thread that lives as long as they should.
#pragma once

#include <sys/types.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace orc::detail {

// One thread at a time.
class child_process {
 public:
  // The standard streams of the program; -1: our own. The descriptors may close on exec.
  struct streams {
    int input = -1;
    int output = -1;
    int errors = -1;
  };

  child_process() noexcept = default;
  child_process(child_process&& other) noexcept
      : pid_(std::exchange(other.pid_, -1)), status_(std::exchange(other.status_, std::nullopt)) {}
  child_process& operator=(child_process&& other) noexcept;
  ~child_process() { end(); }

  // Runs body() in a forked copy of this process. Its result is the exit code. Ctrl-C does not end the copy: we do.
  // Call this only while this process has no other thread. Throws std::system_error, as start() does.
  template <class Body>
  [[nodiscard]] static child_process run(Body&& body) {
    child_process child(fork_copy());
    if (child.pid_ == 0) leave(body());
    return child;
  }

  // Starts a program: a path, or a name that is looked up in PATH. `environment`: NAME=value, added to ours.
  [[nodiscard]] static child_process start(std::vector<std::string> arguments, std::vector<std::string> environment,
                                           const streams& with);
  [[nodiscard]] static child_process start(std::vector<std::string> arguments) {
    return start(std::move(arguments), {}, {});
  }

  // -1: none was started. Stays valid when the child has ended.
  [[nodiscard]] pid_t pid() const noexcept { return pid_; }

  // Returns the status as waitpid(2) does; nothing while the child runs.
  [[nodiscard]] std::optional<int> status() noexcept;
  // Waits until the child ends, at most `within`. Then as status().
  [[nodiscard]] std::optional<int> wait(std::chrono::milliseconds within);

  // False: the child has ended.
  bool send_signal(int number) noexcept;
  // Sends SIGSTOP and waits until the child has stopped. False: it ended before.
  [[nodiscard]] bool freeze() noexcept;
  // Sends SIGKILL and reaps the child.
  void kill() noexcept;
  // Sends SIGTERM, and after one second kill().
  void end() noexcept;

 private:
  explicit child_process(pid_t pid) noexcept : pid_(pid) {}

  static pid_t fork_from(pid_t parent);
  static pid_t fork_copy();
  [[noreturn]] static void leave(int exit_code) noexcept;
  // Takes waitpid's options. False: the child has not ended.
  bool reap(int options) noexcept;

  pid_t pid_ = -1;
  std::optional<int> status_;
};

}  // namespace orc::detail
