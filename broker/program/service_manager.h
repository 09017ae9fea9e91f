// Reports the state of orc-broker to systemd (sd_notify(3)) when it runs as a service; elsewhere it does nothing.
#pragma once

#include <chrono>
#include <optional>

namespace orc {

class service_manager {
 public:
  service_manager();

  void ready() const;
  void stopping() const;
  void alive() const;
  // How often to call alive(): half of WatchdogSec. Nothing when there is no watchdog.
  [[nodiscard]] std::optional<std::chrono::milliseconds> alive_period() const noexcept { return alive_period_; }

 private:
  std::optional<std::chrono::milliseconds> alive_period_;
};

// Returns whether the journal reads standard error. It understands a priority in front of a line: "<3>".
[[nodiscard]] bool journal_reads_stderr();

}  // namespace orc
