#include "tools/web/start_thread.h"

#include <csignal>
#include <utility>

namespace orc::web {

std::thread start_thread(std::function<void()> body) {
  struct blocked {
    sigset_t before = {};
    blocked() {
      sigset_t all;
      sigfillset(&all);
      pthread_sigmask(SIG_BLOCK, &all, &before);
    }
    ~blocked() { pthread_sigmask(SIG_SETMASK, &before, nullptr); }
  };
  const blocked while_it_starts;
  return std::thread(std::move(body));
}

}  // namespace orc::web
