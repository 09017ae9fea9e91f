// A program that a test starts, with its standard error in a pipe. Killed and reaped at the end, whatever happens.
#pragma once

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

namespace orc::test {

// Where the programs of this build are: ctest sets ORC_BIN_DIR; started by hand, a test looks beside its own build.
inline std::string program(const std::string& name) {
  if (const char* directory = std::getenv("ORC_BIN_DIR")) return std::string(directory) + "/" + name;
  const auto self = std::filesystem::read_symlink("/proc/self/exe");
  return (self.parent_path().parent_path().parent_path() / "bin" / name).string();
}

class child_process {
 public:
  using milliseconds = std::chrono::milliseconds;

  // `environment`: entries NAME=value in front of this process's own, of which those with the same names are left out.
  explicit child_process(std::vector<std::string> command, std::vector<std::string> environment = {}) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("pipe2");
    output_ = ends[0];
    for (char** entry = environ; *entry != nullptr; ++entry) {
      const std::string own = *entry;
      const auto name = own.substr(0, own.find('=') + 1);
      bool replaced = false;
      for (const auto& one : environment) replaced = replaced || one.starts_with(name);
      if (!replaced) environment.push_back(own);
    }
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
    const int failed = posix_spawn(&pid_, command[0].c_str(), &actions, nullptr, pointers(command).data(),
                                   pointers(environment).data());
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    if (failed != 0) {
      close(output_);
      throw std::runtime_error("cannot start " + command[0]);
    }
  }
  child_process(const child_process&) = delete;
  child_process& operator=(const child_process&) = delete;
  ~child_process() {
    if (!ended_) {
      kill(pid_, SIGKILL);
      waitpid(pid_, nullptr, 0);
    }
    close(output_);
  }

  [[nodiscard]] pid_t pid() const { return pid_; }
  void send_signal(int number) const { kill(pid_, number); }

  // Reads its output (both streams) until `text` has appeared. False when the output ended or the time is up.
  bool wait_for_output(const std::string& text, milliseconds patience = milliseconds(20'000)) {
    const auto deadline = std::chrono::steady_clock::now() + patience;
    while (text_.find(text) == std::string::npos) {
      if (!read_some(deadline)) return false;
    }
    return true;
  }
  // Waits for its end. The exit status, or minus the number of the signal that ended it.
  int wait_for_end(milliseconds patience = milliseconds(20'000)) {
    const auto deadline = std::chrono::steady_clock::now() + patience;
    while (read_some(deadline)) {
    }
    if (std::chrono::steady_clock::now() >= deadline) throw std::runtime_error("the process does not end");
    int status = 0;
    waitpid(pid_, &status, 0);
    ended_ = true;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }
  // Everything it wrote so far and we read.
  [[nodiscard]] const std::string& output() const { return text_; }

 private:
  static std::vector<char*> pointers(std::vector<std::string>& strings) {
    std::vector<char*> made;
    for (auto& one : strings) made.push_back(one.data());
    made.push_back(nullptr);
    return made;
  }
  bool read_some(std::chrono::steady_clock::time_point deadline) {
    const auto left = std::chrono::ceil<milliseconds>(deadline - std::chrono::steady_clock::now()).count();
    pollfd item{output_, POLLIN, 0};
    if (left <= 0 || poll(&item, 1, static_cast<int>(left)) <= 0) return false;
    char buffer[4'096];
    const auto size = read(output_, buffer, sizeof buffer);
    if (size <= 0) return false;
    text_.append(buffer, static_cast<std::size_t>(size));
    return true;
  }

  pid_t pid_ = -1;
  int output_ = -1;
  bool ended_ = false;
  std::string text_;
};

}  // namespace orc::test
