// A child process that never outlives its parent: ended and waited for by its pid, and by the kernel if the parent
// dies first.
#pragma once

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "benchmarks/support/clock.h"
#include "benchmarks/support/interrupt.h"

namespace orc::bench {

class child_process {
 public:
  child_process() noexcept = default;
  child_process(child_process&& other) noexcept : pid_(std::exchange(other.pid_, -1)) {}
  child_process& operator=(child_process&& other) noexcept {
    if (this != &other) {
      end();
      pid_ = std::exchange(other.pid_, -1);
    }
    return *this;
  }
  ~child_process() { end(); }

  // Runs `body` in a copy of this process; its result is the exit code. Only before this process has threads, and
  // from a thread that lives as long as the child should (PR_SET_PDEATHSIG follows the thread).
  template <class Body>
  static child_process fork_run(Body&& body) {
    std::fflush(nullptr);
    const pid_t parent = ::getpid();
    child_process child(::fork());
    if (child.pid_ == 0) {
      die_with(parent);
      leave_interrupts_to_parent();
      ::_exit(flushed(body()));
    }
    return child;
  }

  // Starts a program. `keep_fd` stays open in it.
  static child_process spawn(const std::vector<std::string>& arguments, int keep_fd = -1) {
    std::vector<char*> argv;
    for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
    argv.push_back(nullptr);
    const pid_t parent = ::getpid();
    child_process child(::fork());
    if (child.pid_ == 0) {
      die_with(parent);
      if (keep_fd >= 0) ::fcntl(keep_fd, F_SETFD, 0);
      ::execv(argv[0], argv.data());
      ::_exit(127);
    }
    return child;
  }

  [[nodiscard]] pid_t pid() const noexcept { return pid_; }
  explicit operator bool() const noexcept { return pid_ > 0; }

  // Its exit code, 128 + signal if one ended it, -1 while it still runs after `within_ms`.
  int wait(int within_ms) noexcept {
    const std::int64_t deadline = now_ns() + within_ms * std::int64_t{1'000'000};
    while (pid_ > 0) {
      int status = 0;
      if (::waitpid(pid_, &status, WNOHANG) == pid_) {
        pid_ = -1;
        return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
      }
      if (now_ns() >= deadline) return -1;
      sleep_until_ns(now_ns() + 1'000'000);
    }
    return -1;
  }

  void signal(int number) noexcept {
    if (pid_ > 0) ::kill(pid_, number);
  }

  // SIGTERM, a second, SIGKILL.
  void end() noexcept {
    if (pid_ <= 0) return;
    signal(SIGTERM);
    if (wait(1000) == -1 && pid_ > 0) {
      signal(SIGKILL);
      ::waitpid(pid_, nullptr, 0);
      pid_ = -1;
    }
  }

 private:
  explicit child_process(pid_t pid) noexcept : pid_(pid) {}

  static void die_with(pid_t parent) noexcept {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(1);  // it died before the line above
  }
  static int flushed(int exit_code) noexcept {
    std::fflush(nullptr);
    return exit_code;
  }

  pid_t pid_ = -1;
};

}  // namespace orc::bench
