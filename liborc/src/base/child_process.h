// A child process that never outlives its parent: ended and waited for by its pid, and by the kernel if the thread that
// started it ends first. Start children from a thread that lives as long as they should.
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

// For one thread.
class child_process {
 public:
  // What a program gets as its standard streams; -1: ours. They may close on exec.
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

  // Runs body() in a copy of this process, which leaves Ctrl-C to us; the result is its exit code. Only while this
  // process has no other thread. Throws std::system_error, as start() does.
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

  // -1: there never was one. Stays when it has ended.
  [[nodiscard]] pid_t pid() const noexcept { return pid_; }

  // As of waitpid(2); nothing while it runs.
  [[nodiscard]] std::optional<int> status() noexcept;
  // The same, once it has ended or `within` is over.
  [[nodiscard]] std::optional<int> wait(std::chrono::milliseconds within);

  // False: it has ended.
  bool send_signal(int number) noexcept;
  // SIGSTOP, and returns when it has stopped. False: it ended before.
  [[nodiscard]] bool freeze() noexcept;
  // SIGKILL, and reaped when this returns.
  void kill() noexcept;
  // SIGTERM, and after a second kill().
  void end() noexcept;

 private:
  explicit child_process(pid_t pid) noexcept : pid_(pid) {}

  static pid_t fork_from(pid_t parent);
  static pid_t fork_copy();
  [[noreturn]] static void leave(int exit_code) noexcept;
  // With waitpid's options. False: not yet.
  bool reap(int options) noexcept;

  pid_t pid_ = -1;
  std::optional<int> status_;
};

}  // namespace orc::detail
