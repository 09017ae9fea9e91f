#include "calls/call_state.h"

#include <sys/eventfd.h>
#include <unistd.h>

namespace orc::detail {

call_state::~call_state() {
  if (event >= 0) ::close(event);
}

int call_state::open_event() noexcept {
  if (event >= 0) return event;
  event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (done) alert();
  return event;
}

void call_state::alert() noexcept {
  const std::uint64_t one = 1;
  if (event >= 0) (void)!::write(event, &one, sizeof one);
}

void call_state::calm() noexcept {
  std::uint64_t events = 0;
  if (event >= 0) (void)!::read(event, &events, sizeof events);
}

}  // namespace orc::detail
