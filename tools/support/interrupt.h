// Ctrl-C ends a measurement in order: the flag is looked at, destructors run, nothing is left behind.
#pragma once

#include <csignal>

#include "base/stop_signal.h"

namespace orc::bench {

// While it lives, SIGINT, SIGTERM and SIGHUP set the flag; a second one of the same kind kills. A closed pipe is an
// error, no signal.
class interruptible {
 public:
  interruptible() { std::signal(SIGPIPE, SIG_IGN); }

 private:
  detail::stop_signal stop_;
};

inline bool interrupted() noexcept { return detail::stop_signal::raised(); }

// What the shell expects of a program that a signal ended: 128 + signal.
inline int interrupted_exit_code() noexcept { return 128 + detail::stop_signal::number(); }

}  // namespace orc::bench
