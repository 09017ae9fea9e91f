#include "base/process/child_process.h"

#include <sys/prctl.h>
#include <sys/wait.h>

#include <cerrno>
#include <cstdio>
#include <system_error>
#include <thread>

#include "base/process/stop_signal.h"

namespace orc::detail {

namespace {

constexpr auto look_again = std::chrono::milliseconds(1);
constexpr auto patience = std::chrono::seconds(1);  // between SIGTERM and SIGKILL
constexpr int not_started = 127;                    // as shells have it

// Our variables, but for those that are given anew.
[[nodiscard]] std::vector<std::string> merged(std::vector<std::string> given) {
  std::vector<std::string> all;
  for (char** variable = environ; *variable != nullptr; ++variable) all.emplace_back(*variable);
  for (auto& text : given) {
    const auto name_end = text.find('=') + 1;
    std::erase_if(all, [&](const std::string& old) { return old.compare(0, name_end, text, 0, name_end) == 0; });
    all.push_back(std::move(text));
  }
  return all;
}

[[nodiscard]] std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> all;
  for (auto& text : texts) all.push_back(text.data());
  all.push_back(nullptr);
  return all;
}

}  // namespace

child_process& child_process::operator=(child_process&& other) noexcept {
  if (this != &other) {
    end();
    pid_ = std::exchange(other.pid_, -1);
    status_ = std::exchange(other.status_, std::nullopt);
  }
  return *this;
}

pid_t child_process::fork_from(pid_t parent) {
  const pid_t pid = ::fork();
  if (pid < 0) throw std::system_error(errno, std::generic_category(), "fork");
  if (pid != 0) return pid;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(not_started);  // it died before the line above
  return 0;
}

pid_t child_process::fork_copy() {
  std::fflush(nullptr);  // what is buffered is ours to write
  const pid_t pid = fork_from(::getpid());
  if (pid == 0) stop_signal::leave_to_parent();
  return pid;
}

void child_process::leave(int exit_code) noexcept {
  std::fflush(nullptr);
  ::_exit(exit_code);
}

child_process child_process::start(std::vector<std::string> arguments, std::vector<std::string> environment,
                                   const streams& with) {
  // Everything that allocates comes before fork: this process may have threads.
  std::vector<std::string> variables = merged(std::move(environment));
  const auto argv = pointers_to(arguments);
  const auto envp = pointers_to(variables);
  child_process child(fork_from(::getpid()));
  if (child.pid_ == 0) {
    if (with.input >= 0) ::dup2(with.input, STDIN_FILENO);
    if (with.output >= 0) ::dup2(with.output, STDOUT_FILENO);
    if (with.errors >= 0) ::dup2(with.errors, STDERR_FILENO);
    ::execvpe(argv[0], argv.data(), envp.data());
    ::_exit(not_started);
  }
  return child;
}

bool child_process::reap(int options) noexcept {
  if (pid_ <= 0 || status_) return true;
  int status = 0;
  pid_t found = 0;
  do found = ::waitpid(pid_, &status, options);
  while (found < 0 && errno == EINTR);
  if (found == pid_ && !WIFSTOPPED(status)) status_ = status;
  return found != 0;
}

std::optional<int> child_process::status() noexcept {
  (void)reap(WNOHANG);
  return status_;
}

std::optional<int> child_process::wait(std::chrono::milliseconds within) {
  const auto until = std::chrono::steady_clock::now() + within;
  while (!reap(WNOHANG) && std::chrono::steady_clock::now() < until) std::this_thread::sleep_for(look_again);
  return status_;
}

bool child_process::send_signal(int number) noexcept { return pid_ > 0 && !status_ && ::kill(pid_, number) == 0; }

bool child_process::freeze() noexcept {
  if (!send_signal(SIGSTOP)) return false;
  (void)reap(WUNTRACED);
  return !status_;
}

void child_process::kill() noexcept {
  (void)send_signal(SIGKILL);
  (void)reap(0);
}

void child_process::end() noexcept {
  if (pid_ <= 0 || status_) return;
  (void)send_signal(SIGTERM);
  if (!wait(patience)) kill();
}

}  // namespace orc::detail
