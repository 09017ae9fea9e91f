#include "support/child_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "support/wait_until.h"

namespace orc::test {

namespace {

[[noreturn]] void fail(const char* what) { throw std::system_error(errno, std::generic_category(), what); }

struct pipe_ends {
  int read = -1;
  int write = -1;
};

pipe_ends make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) fail("pipe2");
  return {ends[0], ends[1]};
}

}  // namespace

child_process::child_process(std::vector<std::string> argv, std::vector<std::string> environment,
                             errors standard_error) {
  std::vector<char*> arguments;
  for (auto& text : argv) arguments.push_back(text.data());
  arguments.push_back(nullptr);
  // Everything that allocates happens before fork: the test process has threads.
  std::vector<std::string> merged;
  for (char** variable = environ; *variable != nullptr; ++variable) merged.emplace_back(*variable);
  for (auto& text : environment) {
    const auto name_end = text.find('=') + 1;
    std::erase_if(merged, [&](const std::string& old) { return old.compare(0, name_end, text, 0, name_end) == 0; });
    merged.push_back(text);
  }
  std::vector<char*> variables;
  for (auto& text : merged) variables.push_back(text.data());
  variables.push_back(nullptr);

  const pipe_ends in = make_pipe();
  const pipe_ends out = make_pipe();
  const pid_t parent = ::getpid();
  pid_ = ::fork();
  if (pid_ < 0) fail("fork");
  if (pid_ == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(127);
    ::dup2(in.read, STDIN_FILENO);
    ::dup2(out.write, STDOUT_FILENO);
    if (standard_error == errors::to_output) ::dup2(out.write, STDERR_FILENO);
    ::execvpe(arguments[0], arguments.data(), variables.data());
    ::_exit(127);
  }
  ::close(in.read);
  ::close(out.write);
  input_ = in.write;
  output_ = out.read;
}

child_process::~child_process() { reset(); }

child_process::child_process(child_process&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      input_(std::exchange(other.input_, -1)),
      output_(std::exchange(other.output_, -1)),
      status_(std::exchange(other.status_, std::nullopt)),
      unread_(std::move(other.unread_)) {}

child_process& child_process::operator=(child_process&& other) noexcept {
  if (this != &other) {
    reset();
    pid_ = std::exchange(other.pid_, -1);
    input_ = std::exchange(other.input_, -1);
    output_ = std::exchange(other.output_, -1);
    status_ = std::exchange(other.status_, std::nullopt);
    unread_ = std::move(other.unread_);
  }
  return *this;
}

void child_process::reset() noexcept {
  if (pid_ > 0) kill();
  close_input();
  if (output_ >= 0) ::close(std::exchange(output_, -1));
  pid_ = -1;
}

void child_process::close_input() {
  if (input_ >= 0) ::close(std::exchange(input_, -1));
}

void child_process::write_line(std::string_view line) const {
  std::string text(line);
  text += '\n';
  // A child that is gone is a failure to report, not a reason to die of SIGPIPE.
  static const bool ignored = ::signal(SIGPIPE, SIG_IGN) != SIG_ERR;
  static_cast<void>(ignored);
  std::size_t done = 0;
  while (done < text.size()) {
    const ssize_t n = ::write(input_, text.data() + done, text.size() - done);
    if (n < 0 && errno != EINTR) fail("write to a child");
    if (n > 0) done += static_cast<std::size_t>(n);
  }
}

bool child_process::read_some(std::chrono::steady_clock::time_point end) {
  for (;;) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(end - std::chrono::steady_clock::now()).count();
    if (left <= 0) return false;
    pollfd ready{output_, POLLIN, 0};
    if (::poll(&ready, 1, static_cast<int>(left)) < 0 && errno != EINTR) fail("poll on a child");
    if (ready.revents == 0) continue;
    char chunk[4096];
    const ssize_t n = ::read(output_, chunk, sizeof chunk);
    if (n == 0) return false;
    if (n < 0) continue;
    unread_.append(chunk, static_cast<std::size_t>(n));
    return true;
  }
}

std::optional<std::string> child_process::read_line(std::chrono::milliseconds deadline) {
  const auto end = std::chrono::steady_clock::now() + deadline;
  for (;;) {
    if (const auto newline = unread_.find('\n'); newline != std::string::npos) {
      std::string line = unread_.substr(0, newline);
      unread_.erase(0, newline + 1);
      return line;
    }
    if (!read_some(end)) return std::nullopt;
  }
}

std::string child_process::read_all(std::chrono::milliseconds deadline) {
  const auto end = std::chrono::steady_clock::now() + deadline;
  while (read_some(end)) {
  }
  return std::exchange(unread_, {});
}

bool child_process::wait_for_output(const std::string& text, std::chrono::milliseconds deadline) {
  const auto end = std::chrono::steady_clock::now() + deadline;
  while (unread_.find(text) == std::string::npos) {
    if (!read_some(end)) return false;
  }
  return true;
}

int child_process::wait_for_end(std::chrono::milliseconds deadline) {
  const auto end = std::chrono::steady_clock::now() + deadline;
  while (read_some(end)) {
  }
  const auto status = wait(deadline);
  if (!status) throw std::runtime_error("a child does not end");
  return WIFEXITED(*status) ? WEXITSTATUS(*status) : -WTERMSIG(*status);
}

void child_process::send_signal(int number) const {
  if (::kill(pid_, number) != 0) fail("kill");
}

void child_process::freeze() {
  send_signal(SIGSTOP);
  int status = 0;
  while (::waitpid(pid_, &status, WUNTRACED) < 0) {
    if (errno != EINTR) fail("waitpid for a stopped child");
  }
  if (!WIFSTOPPED(status)) {
    status_ = status;
    throw std::runtime_error("a child ended before it could be stopped");
  }
}

void child_process::thaw() const { send_signal(SIGCONT); }

void child_process::kill() {
  if (pid_ <= 0 || status_) return;
  ::kill(pid_, SIGKILL);
  int status = 0;
  while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  status_ = status;
}

std::optional<int> child_process::wait(std::chrono::milliseconds deadline) {
  if (!wait_until([this] { return !running(); }, deadline)) return std::nullopt;
  return status_;
}

bool child_process::running() {
  if (status_) return false;
  int status = 0;
  const pid_t reaped = ::waitpid(pid_, &status, WNOHANG);
  if (reaped == pid_) status_ = status;
  return !status_;
}

bool run_command(std::vector<std::string> command, std::string& why) {
  std::string text;
  for (const auto& word : command) text += word + " ";
  child_process child(std::move(command));
  child.close_input();
  const std::string output = child.read_all();
  if (child.wait() == 0) return true;
  why = text + "failed: " + output;
  return false;
}

std::string program(const std::string& name) {
  const char* dir = std::getenv("ORC_BIN_DIR");
  std::vector<std::filesystem::path> places;
  if (dir != nullptr) places.emplace_back(dir);
  // Run by hand: build/<preset>/tests/bin/<this> beside build/<preset>/bin.
  const auto here = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  places.push_back(here);
  places.push_back(here.parent_path().parent_path() / "bin");
  for (const auto& place : places) {
    if (std::filesystem::exists(place / name)) return (place / name).string();
  }
  throw std::runtime_error("no program " + name + ": build it, or set ORC_BIN_DIR to where it is");
}

}  // namespace orc::test
