// A program on a terminal of its own, as a person has it: keys go in, what it shows comes out.
#pragma once

#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>
#include <utmp.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/files/unique_fd.h"
#include "support/budget.h"
#include "support/catch.h"
#include "support/wait_until.h"

namespace orc::test {

// The destructor kills and reaps it.
class pseudo_terminal {
 public:
  // `environment` holds NAME=value, added to the test's own. All three standard descriptors are the terminal, which is
  // `columns` wide.
  pseudo_terminal(std::vector<std::string> words, std::vector<std::string> environment, unsigned short columns = 80) {
    const winsize size{24, columns, 0, 0};
    int main = -1;
    int other = -1;
    REQUIRE(::openpty(&main, &other, nullptr, nullptr, &size) == 0);
    main_.reset(main);
    other_.reset(other);  // kept open: the modes can be read when the program has ended
    ::fcntl(main, F_SETFD, FD_CLOEXEC);
    ::fcntl(other, F_SETFD, FD_CLOEXEC);
    std::vector<char*> argv;
    for (auto& each : words) argv.push_back(each.data());
    argv.push_back(nullptr);
    child_ = ::fork();
    REQUIRE(child_ >= 0);
    if (child_ != 0) return;
    ::login_tty(::dup(other));
    for (auto& each : environment) ::putenv(each.data());
    ::execvp(argv[0], argv.data());
    ::_exit(127);
  }
  ~pseudo_terminal() {
    if (status_) return;
    ::kill(child_, SIGKILL);
    ::waitpid(child_, nullptr, 0);
  }
  pseudo_terminal(const pseudo_terminal&) = delete;
  pseudo_terminal& operator=(const pseudo_terminal&) = delete;

  [[nodiscard]] pid_t pid() const { return child_; }
  void press(std::string_view keys) const {
    REQUIRE(::write(main_.get(), keys.data(), keys.size()) == static_cast<ssize_t>(keys.size()));
  }
  // Whether a line is shown as it is typed, and read as a whole: the modes that a shell leaves.
  [[nodiscard]] bool is_ordinary() const {
    termios modes{};
    REQUIRE(::tcgetattr(other_.get(), &modes) == 0);
    return (modes.c_lflag & (ICANON | ECHO)) == (ICANON | ECHO);
  }
  // Reads what is shown until `text` comes, and forgets all before its end.
  [[nodiscard]] bool wait_for(const std::string& text) {
    const auto end = std::chrono::steady_clock::now() + patience;
    while (std::chrono::steady_clock::now() < end) {
      if (const auto at = shown_.find(text); at != std::string::npos) {
        shown_.erase(0, at + text.size());
        return true;
      }
      pollfd item = {main_.get(), POLLIN, 0};
      if (::poll(&item, 1, 100) <= 0) continue;
      std::array<char, 4096> part{};
      const ssize_t count = ::read(main_.get(), part.data(), part.size());
      if (count <= 0) return false;
      shown_.append(part.data(), static_cast<std::size_t>(count));
    }
    return false;
  }
  // Waits until it has stopped (Ctrl-Z).
  [[nodiscard]] bool wait_for_stop() {
    return wait_until([&] {
      int status = 0;
      return ::waitpid(child_, &status, WNOHANG | WUNTRACED) == child_ && WIFSTOPPED(status);
    });
  }
  // The exit code, or minus the number of the signal that ended it.
  int wait_for_end() {
    int status = 0;
    // What it shows must be read, or it would wait for that.
    REQUIRE(wait_until([&] {
      std::array<char, 4096> part{};
      pollfd item = {main_.get(), POLLIN, 0};
      if (::poll(&item, 1, 0) > 0) {
        const ssize_t count = ::read(main_.get(), part.data(), part.size());
        if (count > 0) shown_.append(part.data(), static_cast<std::size_t>(count));
      }
      return ::waitpid(child_, &status, WNOHANG) == child_;
    }));
    status_ = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
    return *status_;
  }
  [[nodiscard]] const std::string& shown() const { return shown_; }

 private:
  detail::unique_fd main_;
  detail::unique_fd other_;
  pid_t child_ = -1;
  std::string shown_;
  std::optional<int> status_;
};

}  // namespace orc::test
