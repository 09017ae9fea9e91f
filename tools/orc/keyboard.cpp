#include "keyboard.h"

#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <utility>

namespace orc::cli {

namespace {

// A signal handler can reach nothing but statics.
termios modes_before{};
std::atomic<bool> modes_changed{false};
std::atomic<int> suspended_fd{-1};

// These end the process at once; SIGINT, SIGTERM and SIGHUP are an ordinary end (stop_signal).
constexpr std::array deadly = {SIGQUIT, SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGALRM, SIGXCPU};

void on_deadly(int number) {
  if (modes_changed) tcsetattr(STDIN_FILENO, TCSANOW, &modes_before);
  signal(number, SIG_DFL);
  raise(number);
}

void on_suspend(int) {
  const int saved_errno = errno;
  const std::uint64_t one = 1;
  static_cast<void>(!write(suspended_fd, &one, sizeof one));
  errno = saved_errno;
}

bool is_in_foreground() noexcept { return tcgetpgrp(STDIN_FILENO) == getpgrp(); }

// Longest first. Cursor keys have two forms, with [ and with O.
constexpr std::array<std::pair<std::string_view, key>, 24> keys{{
    {"\x1b[1;2C", key::far_forward},
    {"\x1b[1;2D", key::far_back},
    {"\x1b[1;5C", key::far_forward},
    {"\x1b[1;5D", key::far_back},
    {"\x1b[5~", key::far_back},
    {"\x1b[6~", key::far_forward},
    {"\x1b[C", key::forward},
    {"\x1b[D", key::back},
    {"\x1bOC", key::forward},
    {"\x1bOD", key::back},
    {"\x1b[c", key::far_forward},
    {"\x1b[d", key::far_back},
    {" ", key::pause},
    {".", key::step},
    {"s", key::step},
    {"S", key::step},
    {"+", key::faster},
    {"=", key::faster},
    {"-", key::slower},
    {"_", key::slower},
    {"q", key::quit},
    {"Q", key::quit},
    {"?", key::help},
    {"h", key::help},
}};

constexpr std::size_t longest_sequence = 16;

// Length of the escape sequence at the start; 0: its end has not come.
std::size_t sequence_length(std::string_view sent) {
  if (sent.size() < 2) return 0;
  if (sent[1] == 'O') return sent.size() < 3 ? 0 : 3;
  if (sent[1] != '[') return 1;  // Escape itself
  for (std::size_t i = 2; i < sent.size() && i < longest_sequence; ++i)
    if (sent[i] >= 0x40 && sent[i] <= 0x7e) return i + 1;
  return sent.size() < longest_sequence ? 0 : longest_sequence;
}

}  // namespace

std::optional<key> take_key(std::string& sent) {
  while (!sent.empty()) {
    const std::size_t length = sent[0] == '\x1b' ? sequence_length(sent) : 1;
    if (length == 0) return std::nullopt;
    const std::string pressed = sent.substr(0, length);
    sent.erase(0, length);
    for (const auto& [bytes, meaning] : keys)
      if (pressed == bytes) return meaning;
  }
  return std::nullopt;
}

keyboard::keyboard() : is_terminal_(isatty(STDIN_FILENO) == 1 && tcgetattr(STDIN_FILENO, &modes_before) == 0) {
  if (!is_terminal_) return;
  suspend_fd_.reset(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  suspended_fd = suspend_fd_.get();
  for (const int number : deadly) signal(number, on_deadly);
  signal(SIGTSTP, on_suspend);
  refresh();
}

keyboard::~keyboard() {
  if (!is_terminal_) return;
  restore();
  for (const int number : deadly) signal(number, SIG_DFL);
  signal(SIGTSTP, SIG_DFL);
}

void keyboard::refresh() noexcept {
  if (is_terminal_ && !raw_ && is_in_foreground()) take();
}

void keyboard::take() noexcept {
  termios modes = modes_before;
  modes.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
  modes.c_cc[VMIN] = 0;
  modes.c_cc[VTIME] = 0;
  modes_changed = true;  // before: a signal may come between
  raw_ = tcsetattr(STDIN_FILENO, TCSADRAIN, &modes) == 0;
}

void keyboard::give_back() noexcept {
  if (!std::exchange(raw_, false)) return;
  if (is_in_foreground()) tcsetattr(STDIN_FILENO, TCSADRAIN, &modes_before);
  modes_changed = false;
}

void keyboard::restore() noexcept {
  give_back();
  is_terminal_ = false;
}

std::optional<key> keyboard::next() {
  if (!raw_) return std::nullopt;
  if (const auto known = take_key(sent_)) return known;
  std::array<char, 256> bytes{};
  const ssize_t count = read(STDIN_FILENO, bytes.data(), bytes.size());
  if (count < 0 && errno == EIO) raw_ = false;  // the terminal is gone, or we are in the background
  if (count <= 0) return std::nullopt;
  sent_.append(bytes.data(), static_cast<std::size_t>(count));
  return take_key(sent_);
}

void keyboard::suspend() noexcept {
  std::uint64_t count = 0;
  static_cast<void>(!read(suspend_fd_.get(), &count, sizeof count));
  give_back();
  signal(SIGTSTP, SIG_DFL);
  raise(SIGTSTP);  // returns after SIGCONT
  signal(SIGTSTP, on_suspend);
  refresh();
}

}  // namespace orc::cli
