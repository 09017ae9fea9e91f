// Starts threads that leave signals to the program's own. For ORC itself.
#pragma once

#include <pthread.h>
#include <signal.h>

#include <thread>
#include <utility>

namespace orc::detail {

// Starts a thread in which all signals are blocked. Throws std::system_error.
template <class Run>
[[nodiscard]] std::thread start_quiet(Run run) {
  struct blocked {
    blocked() noexcept {
      sigset_t all;
      sigfillset(&all);
      pthread_sigmask(SIG_SETMASK, &all, &before);
    }
    ~blocked() { pthread_sigmask(SIG_SETMASK, &before, nullptr); }
    sigset_t before{};
  } const guard;
  return std::thread(std::move(run));
}

// Waits for the thread's end. False: this is the thread itself, which cannot wait for itself.
inline bool join_other(std::thread& thread) noexcept {
  if (!thread.joinable()) return true;
  if (thread.get_id() == std::this_thread::get_id()) return false;
  thread.join();
  return true;
}

// The same, where the thread itself comes here only in exit(): it is let go.
inline void finish(std::thread& thread) noexcept {
  if (!join_other(thread)) thread.detach();
}

}  // namespace orc::detail
