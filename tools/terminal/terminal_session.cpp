#include "tools/terminal/terminal_session.h"

#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <utility>

namespace orc::terminal {

namespace {

// The alternate screen, no cursor, no line wrap.
constexpr std::string_view enter_screen = "\x1b[?1049h\x1b[?25l\x1b[?7l\x1b[2J\x1b[H";
constexpr std::string_view leave_screen = "\x1b[0m\x1b[?7h\x1b[?25h\x1b[?1049l";

constexpr int patience_ms = 1'000;  // with a terminal that takes nothing

// A signal handler can reach nothing but statics.
std::atomic<int> suspended{-1};
std::atomic<int> changed{-1};
std::atomic<bool> continued{false};

void ring(int fd) {
  const int saved_errno = errno;
  const std::uint64_t one = 1;
  static_cast<void>(!write(fd, &one, sizeof one));
  errno = saved_errno;
}

void on_suspend(int) { ring(suspended); }
void on_resize(int) { ring(changed); }
void on_continue(int) {
  continued = true;
  ring(changed);
}

void drain(int fd) noexcept {
  std::uint64_t count = 0;
  static_cast<void>(!read(fd, &count, sizeof count));
}

[[nodiscard]] bool is_in_foreground() noexcept { return tcgetpgrp(STDIN_FILENO) == getpgrp(); }

// System calls that wait must go on: a resized terminal is no reason to fail.
void handle(int number, void (*handler)(int)) noexcept {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  sigaction(number, &action, nullptr);
}

}  // namespace

terminal_session::terminal_session(picture shown, int output)
    : picture_(shown),
      output_(output),
      is_terminal_(isatty(STDIN_FILENO) == 1 && tcgetattr(STDIN_FILENO, &before_) == 0) {
  if (!is_terminal_) return;
  suspend_fd_.reset(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  changed_fd_.reset(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  suspended = suspend_fd_.get();
  changed = changed_fd_.get();
  guard_.emplace(STDIN_FILENO, before_, picture_ == picture::full_screen ? leave_screen : std::string_view());
  handle(SIGTSTP, on_suspend);
  handle(SIGCONT, on_continue);
  handle(SIGWINCH, on_resize);
  static_cast<void>(refresh());
}

terminal_session::~terminal_session() {
  restore();
  if (!guard_) return;
  for (const int number : {SIGTSTP, SIGCONT, SIGWINCH}) signal(number, SIG_DFL);
  suspended = -1;
  changed = -1;
}

bool terminal_session::refresh() noexcept {
  if (!is_terminal_) return false;
  // A shell has set its own modes while we were stopped.
  if (continued.exchange(false)) taken_ = false;
  if (!taken_ && is_in_foreground()) take();
  return std::exchange(is_new_, false);
}

void terminal_session::take() noexcept {
  termios modes = before_;
  modes.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
  if (picture_ == picture::full_screen) modes.c_iflag &= ~static_cast<tcflag_t>(IXON);  // Ctrl-S must not freeze it
  modes.c_cc[VMIN] = 0;
  modes.c_cc[VTIME] = 0;
  guard_->taken(modes);  // before: a signal may come between
  taken_ = tcsetattr(STDIN_FILENO, TCSADRAIN, &modes) == 0;
  if (!taken_) return guard_->given_back();
  is_new_ = true;
  if (picture_ == picture::full_screen) write_now(enter_screen);
}

void terminal_session::give_back() noexcept {
  if (!std::exchange(taken_, false)) return;
  if (is_in_foreground()) {
    if (picture_ == picture::full_screen) write_now(leave_screen);
    tcsetattr(STDIN_FILENO, TCSADRAIN, &before_);
  }
  guard_->given_back();
}

void terminal_session::restore() noexcept {
  give_back();
  is_terminal_ = false;
}

std::string terminal_session::keys() {
  if (!taken_) return {};
  std::array<char, 1024> bytes{};
  const ssize_t count = read(STDIN_FILENO, bytes.data(), bytes.size());
  if (count < 0 && errno == EIO) taken_ = false;  // the terminal is gone, or we are in the background
  return count > 0 ? std::string(bytes.data(), static_cast<std::size_t>(count)) : std::string();
}

void terminal_session::suspend() noexcept {
  drain(suspend_fd_.get());
  give_back();
  signal(SIGTSTP, SIG_DFL);
  raise(SIGTSTP);  // returns after SIGCONT
  handle(SIGTSTP, on_suspend);
  static_cast<void>(refresh());
  is_new_ = taken_;
}

void terminal_session::clear_changed() noexcept { drain(changed_fd_.get()); }

terminal_size terminal_session::size() const noexcept {
  winsize found{};
  if (ioctl(output_, TIOCGWINSZ, &found) != 0 || found.ws_row == 0 || found.ws_col == 0) return {};
  return {found.ws_row, found.ws_col};
}

void terminal_session::write_now(std::string_view sequence) const noexcept {
  while (!sequence.empty()) {
    pollfd item = {output_, POLLOUT, 0};
    if (poll(&item, 1, patience_ms) <= 0) return;
    const ssize_t count = write(output_, sequence.data(), sequence.size());
    if (count < 0 && errno != EINTR && errno != EAGAIN) return;
    if (count > 0) sequence.remove_prefix(static_cast<std::size_t>(count));
  }
}

}  // namespace orc::terminal
