#include "service_manager.h"

#include <systemd/sd-daemon.h>

#include <cstdint>
#include <cstdlib>

namespace orc {

service_manager::service_manager() {
  std::uint64_t microseconds = 0;
  if (sd_watchdog_enabled(0, &microseconds) > 0) {
    alive_period_ = std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::microseconds(microseconds / 2));
  }
}

void service_manager::ready() const { sd_notify(0, "READY=1"); }
void service_manager::stopping() const { sd_notify(0, "STOPPING=1"); }
void service_manager::alive() const { sd_notify(0, "WATCHDOG=1"); }

bool journal_reads_stderr() { return std::getenv("JOURNAL_STREAM") != nullptr; }

}  // namespace orc
