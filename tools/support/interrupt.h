// Ends a measurement in order on Ctrl-C: loops check the flag, destructors run, no file is left.
#pragma once

#include <csignal>

#include "base/process/stop_signal.h"

namespace orc::bench {

// SIGINT, SIGTERM and SIGHUP set the flag (detail::stop_signal). A closed pipe is an error, not a signal.
class interruptible {
 public:
  interruptible() { std::signal(SIGPIPE, SIG_IGN); }

 private:
  detail::stop_signal stop_;
};

inline bool interrupted() noexcept { return detail::stop_signal::raised(); }

// The exit code that shells expect after a signal: 128 + its number.
inline int interrupted_exit_code() noexcept { return 128 + detail::stop_signal::number(); }

}  // namespace orc::bench
