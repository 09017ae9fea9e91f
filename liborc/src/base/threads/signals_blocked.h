// Threads that leave signals to the program's own.
#pragma once

#include <signal.h>

namespace orc::detail {

// Blocks all signals of this thread while it lives, and so those of a thread that starts meanwhile, for good.
class signals_blocked {
 public:
  signals_blocked() noexcept {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~signals_blocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  signals_blocked(const signals_blocked&) = delete;
  signals_blocked& operator=(const signals_blocked&) = delete;

 private:
  sigset_t before_{};
};

}  // namespace orc::detail
