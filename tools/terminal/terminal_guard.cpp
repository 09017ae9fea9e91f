#include "tools/terminal/terminal_guard.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <new>

namespace orc::terminal {

namespace {

// These end the process at once; SIGINT, SIGTERM and SIGHUP are an ordinary end (detail::stop_signal).
constexpr std::array deadly = {SIGQUIT, SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGALRM, SIGXCPU, SIGSYS};

// What must be done, in memory that the watcher shares.
struct way_back {
  std::atomic<bool> taken{false};
  termios before{};
  termios ours{};
  std::size_t leave_size = 0;
  std::array<char, 64> leave{};
};

// A signal handler can reach nothing but statics.
way_back* shared = nullptr;
int terminal_fd = -1;
alignas(16) std::array<unsigned char, 65'536> handler_stack;  // the crash may be an overflow of the other one
stack_t stack_before{};

[[nodiscard]] bool are_equal(const termios& a, const termios& b) noexcept {
  return a.c_iflag == b.c_iflag && a.c_oflag == b.c_oflag && a.c_cflag == b.c_cflag && a.c_lflag == b.c_lflag &&
         std::memcmp(a.c_cc, b.c_cc, sizeof a.c_cc) == 0;
}

// Async-signal-safe. Leaves modes alone that somebody else has set meanwhile, as a shell does when its job has ended.
void go_back(int fd, const way_back& how) noexcept {
  termios now{};
  if (tcgetattr(fd, &now) == 0 && are_equal(now, how.ours)) tcsetattr(fd, TCSANOW, &how.before);
  static_cast<void>(!write(fd, how.leave.data(), how.leave_size));
}

void on_deadly(int number) {
  if (shared != nullptr && shared->taken && tcgetpgrp(terminal_fd) == getpgrp()) {
    go_back(terminal_fd, *shared);
    shared->taken = false;
  }
  signal(number, SIG_DFL);
  raise(number);
}

// Runs in the child: waits until the parent has ended, however it did. Only async-signal-safe calls, because the parent
// may have had threads.
[[noreturn]] void watch(int lifeline) noexcept {
  setsid();  // no Ctrl-C, Ctrl-Z or hang-up reaches it, and it may set the modes from the background
  sigset_t none;
  sigemptyset(&none);
  for (const int number : deadly) signal(number, SIG_DFL);
  for (const int number : {SIGINT, SIGTERM, SIGTSTP, SIGCONT, SIGWINCH, SIGHUP, SIGPIPE}) signal(number, SIG_IGN);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  prctl(PR_SET_NAME, "orc-terminal");
  // Nothing else of the parent may stay open because of us.
  const int terminal = fcntl(terminal_fd, F_DUPFD, 100);
  dup2(lifeline, 0);
  dup2(terminal, 1);
  close_range(2, ~0U, 0);
  char byte = 0;
  while (read(0, &byte, 1) < 0 && errno == EINTR) {
  }
  if (shared->taken) {
    alarm(5);  // a terminal that takes nothing must not keep us
    go_back(1, *shared);
  }
  _exit(0);
}

void set_handlers() {
  stack_t stack{};
  stack.ss_sp = handler_stack.data();
  stack.ss_size = handler_stack.size();
  sigaltstack(&stack, &stack_before);
  struct sigaction action {};
  action.sa_handler = on_deadly;
  action.sa_flags = SA_ONSTACK;
  for (const int number : deadly) sigaction(number, &action, nullptr);
}

}  // namespace

terminal_guard::terminal_guard(int fd, const termios& before, std::string_view leave) {
  void* const page = mmap(nullptr, sizeof(way_back), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) throw std::bad_alloc();
  shared = new (page) way_back;
  shared->before = before;
  shared->leave_size = std::min(leave.size(), shared->leave.size());
  std::copy_n(leave.begin(), shared->leave_size, shared->leave.begin());
  terminal_fd = fd;
  start_watcher();
  set_handlers();
}

void terminal_guard::start_watcher() {
  std::array<int, 2> ends{};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) return;
  lifeline_.reset(ends[0]);
  const detail::unique_fd other(ends[1]);
  watcher_ = fork();
  if (watcher_ == 0) watch(other.get());
}

terminal_guard::~terminal_guard() {
  given_back();
  for (const int number : deadly) signal(number, SIG_DFL);
  sigaltstack(&stack_before, nullptr);
  if (watcher_ > 0) {
    kill(watcher_, SIGKILL);
    while (waitpid(watcher_, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  munmap(shared, sizeof *shared);
  shared = nullptr;
  terminal_fd = -1;
}

void terminal_guard::taken(const termios& ours) noexcept {
  shared->ours = ours;
  shared->taken = true;
}

void terminal_guard::given_back() noexcept { shared->taken = false; }

}  // namespace orc::terminal
