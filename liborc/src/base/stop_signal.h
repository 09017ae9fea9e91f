// Ctrl-C and SIGTERM as something that can be polled and waited for.
#pragma once

#include <chrono>

namespace orc::detail {

// While it lives, SIGINT, SIGTERM and SIGHUP set a flag instead of ending the process; a second one ends it, so that
// nothing can make a program unstoppable. At most one at a time. For the main thread, but for raised() and number().
class stop_signal {
 public:
  using clock = std::chrono::steady_clock;

  stop_signal();
  ~stop_signal();
  stop_signal(const stop_signal&) = delete;
  stop_signal& operator=(const stop_signal&) = delete;

  // Any thread. Stays so when the object is gone.
  [[nodiscard]] static bool raised() noexcept { return number() != 0; }
  // Which signal came; 0: none.
  [[nodiscard]] static int number() noexcept;

  // Readable once a signal came.
  [[nodiscard]] int fd() const noexcept;
  // Waits until then or until a signal; true when a signal came.
  bool wait_until(clock::time_point then) const noexcept;
  // Waits for `other_fd` to be readable (or at its end), a signal, or the time; true when the fd is.
  [[nodiscard]] bool wait_readable(int other_fd, clock::time_point then) const noexcept;

  // In a forked child: the terminal sends Ctrl-C to it as well, but its parent ends it, by SIGTERM.
  static void leave_to_parent() noexcept;
};

}  // namespace orc::detail
