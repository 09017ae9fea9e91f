#include "tools/web/start_thread.h"

#include <utility>

#include "base/threads/signals_blocked.h"

namespace orc::web {

std::thread start_thread(std::function<void()> body) {
  const detail::signals_blocked while_it_starts;
  return std::thread(std::move(body));
}

}  // namespace orc::web
