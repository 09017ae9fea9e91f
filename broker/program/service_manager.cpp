#include "broker/program/service_manager.h"

#ifdef ORC_HAVE_SYSTEMD
#include <systemd/sd-daemon.h>
#endif

#include <cstdint>
#include <cstdlib>

namespace orc {
namespace {

void notify(const char* state) {
#ifdef ORC_HAVE_SYSTEMD
  sd_notify(0, state);
#else
  (void)state;
#endif
}

}  // namespace

service_manager::service_manager() {
#ifdef ORC_HAVE_SYSTEMD
  std::uint64_t microseconds = 0;
  if (sd_watchdog_enabled(0, &microseconds) > 0) {
    alive_period_ = std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::microseconds(microseconds / 2));
  }
#endif
}

void service_manager::ready() const { notify("READY=1"); }
void service_manager::stopping() const { notify("STOPPING=1"); }
void service_manager::alive() const { notify("WATCHDOG=1"); }

bool journal_reads_stderr() { return std::getenv("JOURNAL_STREAM") != nullptr; }

}  // namespace orc
