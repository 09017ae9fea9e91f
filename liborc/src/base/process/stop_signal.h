// Makes Ctrl-C and SIGTERM a flag and a descriptor to poll.
#pragma once

#include <chrono>

namespace orc::detail {

// SIGINT, SIGTERM and SIGHUP set a flag instead of ending the process, which then closes what it has open. More of them
// change nothing: timeout(1), terminals and service managers send two at once. A Ctrl-C at least `patience` after the
// first signal ends the process, so that a person can always stop it. All this stays so after the object is destroyed,
// if a signal came. At most one object at a time. Main thread only, except raised() and number().
class stop_signal {
 public:
  using clock = std::chrono::steady_clock;
  static constexpr std::chrono::seconds patience{1};

  stop_signal();
  ~stop_signal();
  stop_signal(const stop_signal&) = delete;
  stop_signal& operator=(const stop_signal&) = delete;

  // Stays true after the object is destroyed.
  [[nodiscard]] static bool raised() noexcept { return number() != 0; }
  // The signal that came; 0: none.
  [[nodiscard]] static int number() noexcept;

  // Readable once a signal came.
  [[nodiscard]] int fd() const noexcept;
  // Waits until then or until a signal; true when a signal came.
  bool wait_until(clock::time_point then) const noexcept;
  // Waits for `other_fd` to be readable (or at its end), a signal, or the time; true when the fd is.
  [[nodiscard]] bool wait_readable(int other_fd, clock::time_point then) const noexcept;

  // For a forked child: ignores Ctrl-C, which the terminal sends to it as well. Its parent ends it by SIGTERM.
  static void leave_to_parent() noexcept;
};

}  // namespace orc::detail
