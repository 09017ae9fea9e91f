// Gives a terminal back whatever ends this process.
#pragma once

#include <sys/types.h>
#include <termios.h>

#include <string_view>

#include "base/files/unique_fd.h"

namespace orc::terminal {

// Between taken() and given_back() the terminal gets its modes and its picture back when the process
// - dies by a signal that a handler can catch (SIGSEGV, SIGABRT, …): the handler does it first, on a stack of its own;
// - dies otherwise: SIGKILL, a crash in a thread that blocks all signals, a later Ctrl-C. A small process that waits
//   for our end does it. Without it (no process is left for it), only the handlers do.
//
// At most one at a time. Main thread only.
class terminal_guard {
 public:
  // `fd` is the terminal, open as long as this object lives. `before` are its modes. `leave` is written to it, at most
  // 64 bytes.
  terminal_guard(int fd, const termios& before, std::string_view leave);
  ~terminal_guard();
  terminal_guard(const terminal_guard&) = delete;
  terminal_guard& operator=(const terminal_guard&) = delete;

  // Call it before the modes become `ours`, and the other one after they were given back.
  void taken(const termios& ours) noexcept;
  void given_back() noexcept;

 private:
  void start_watcher();

  detail::unique_fd lifeline_;  // its other end tells the watcher that we have ended
  pid_t watcher_ = -1;
};

}  // namespace orc::terminal
