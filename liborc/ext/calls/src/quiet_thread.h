// Starts threads that leave signals to the program's own.
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

// Waits for the thread's end. The thread itself cannot: it is on its way out, in exit(), and is let go.
inline void finish(std::thread& thread) noexcept {
  if (!thread.joinable()) return;
  if (thread.get_id() == std::this_thread::get_id())
    thread.detach();
  else
    thread.join();
}

}  // namespace orc::detail
