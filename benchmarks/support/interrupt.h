// Ctrl-C ends a benchmark in order: the flag is looked at, destructors run, nothing is left behind.
#pragma once

#include <atomic>
#include <csignal>

namespace orc::bench {

namespace detail {
inline std::atomic<int> interrupted_by{0};
inline void on_signal(int signal) noexcept { interrupted_by.store(signal); }
}  // namespace detail

inline bool interrupted() noexcept { return detail::interrupted_by.load(std::memory_order_relaxed) != 0; }

// What the shell expects of a program that a signal ended: 128 + signal.
inline int interrupted_exit_code() noexcept { return 128 + detail::interrupted_by.load(); }

// SIGINT, SIGTERM and SIGHUP set the flag; a second one of the same kind kills. A closed pipe is an error, no signal.
inline void catch_interrupts() noexcept {
  struct sigaction action = {};
  action.sa_handler = detail::on_signal;
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) ::sigaction(signal, &action, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
}

// For the other end: the terminal sends Ctrl-C to it too, but it is the first process that ends it.
inline void leave_interrupts_to_parent() noexcept {
  for (const int signal : {SIGINT, SIGHUP}) std::signal(signal, SIG_IGN);
  std::signal(SIGTERM, SIG_DFL);
}

}  // namespace orc::bench
