// What orc-broker tells systemd (sd_notify(3)) when it runs as a service; elsewhere nothing happens.
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
  // How often alive() is to be called: half of what WatchdogSec allows. Nothing when there is no watchdog.
  [[nodiscard]] std::optional<std::chrono::milliseconds> alive_period() const noexcept { return alive_period_; }

 private:
  std::optional<std::chrono::milliseconds> alive_period_;
};

// Are standard error's lines read by the journal, which understands a priority in front: "<3>"?
[[nodiscard]] bool journal_reads_stderr();

}  // namespace orc
