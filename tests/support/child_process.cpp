#include "support/child_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace orc::test {

namespace {

[[noreturn]] void fail(const char* what) { throw std::system_error(errno, std::generic_category(), what); }

struct pipe_ends {
  detail::unique_fd read;
  detail::unique_fd write;
};

pipe_ends make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) fail("pipe2");
  return {detail::unique_fd(ends[0]), detail::unique_fd(ends[1])};
}

}  // namespace

child_process::child_process(std::vector<std::string> argv, std::vector<std::string> environment,
                             errors standard_error) {
  pipe_ends in = make_pipe();
  pipe_ends out = make_pipe();
  const int with_output = standard_error == errors::to_output ? out.write.get() : -1;
  child_ = detail::child_process::start(std::move(argv), std::move(environment),
                                        {in.read.get(), out.write.get(), with_output});
  input_ = std::move(in.write);
  output_ = std::move(out.read);
}

child_process& child_process::operator=(child_process&& other) noexcept {
  if (this != &other) {
    kill();
    child_ = std::move(other.child_);
    input_ = std::move(other.input_);
    output_ = std::move(other.output_);
    unread_ = std::move(other.unread_);
  }
  return *this;
}

void child_process::write_line(std::string_view line) const {
  std::string text(line);
  text += '\n';
  // A child that is gone is a failure to report, not a reason to die of SIGPIPE.
  static const bool ignored = ::signal(SIGPIPE, SIG_IGN) != SIG_ERR;
  static_cast<void>(ignored);
  std::size_t done = 0;
  while (done < text.size()) {
    const ssize_t n = ::write(input_.get(), text.data() + done, text.size() - done);
    if (n < 0 && errno != EINTR) fail("write to a child");
    if (n > 0) done += static_cast<std::size_t>(n);
  }
}

bool child_process::read_some(std::chrono::steady_clock::time_point end) {
  for (;;) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(end - std::chrono::steady_clock::now()).count();
    if (left <= 0) return false;
    pollfd ready{output_.get(), POLLIN, 0};
    if (::poll(&ready, 1, static_cast<int>(left)) < 0 && errno != EINTR) fail("poll on a child");
    if (ready.revents == 0) continue;
    char chunk[4096];
    const ssize_t n = ::read(output_.get(), chunk, sizeof chunk);
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

int child_process::end_by(std::initializer_list<int> numbers) {
  const auto end = std::chrono::steady_clock::now() + patience;
  while (!child_.wait(std::chrono::milliseconds(1)) && std::chrono::steady_clock::now() < end)
    for (const int number : numbers) child_.send_signal(number);
  return wait_for_end();
}

void child_process::send_signal(int number) {
  if (!child_.send_signal(number)) fail("kill");
}

void child_process::freeze() {
  if (!child_.freeze()) throw std::runtime_error("a child ended before it could be stopped");
}

void child_process::thaw() { send_signal(SIGCONT); }

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
