// Timers of a thread that end when they should.
#pragma once

#include <sys/prctl.h>

namespace orc::detail {

// From now on sleeps of this thread end at once when their time has come. The kernel's default lets them end up to 50
// microseconds late. Of threads with a realtime policy they do so anyway.
inline void fine_timers() noexcept {
  thread_local bool are_fine = false;
  if (are_fine) return;
  are_fine = true;
  (void)prctl(PR_SET_TIMERSLACK, 1UL);
}

}  // namespace orc::detail
