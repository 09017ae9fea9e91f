// A real orc-broker on an endpoint of its own, which can be killed and started again at the same place.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/files/temporary_directory.h"
#include "orc/options.h"
#include "support/child_process.h"

namespace orc::test {

class broker_process {
 public:
  enum class at { ipc, tcp, nowhere };  // nowhere: an ipc endpoint where no broker runs until start()

  explicit broker_process(at kind = at::ipc);

  [[nodiscard]] const std::string& endpoint() const { return endpoint_; }
  [[nodiscard]] const detail::temporary_directory& directory() const { return directory_; }
  [[nodiscard]] child_process& process() { return *process_; }

  void start();  // returns when it accepts connections
  void spawn();  // does not wait for that
  void kill();   // SIGKILL
  void restart() {
    kill();
    start();
  }

  // Only while it runs.
  [[nodiscard]] pid_t pid() const { return process_->pid(); }

  // Options of a participant of this broker.
  [[nodiscard]] participant_options options(std::string name = "test") const;

 private:
  detail::temporary_directory directory_;
  std::string endpoint_;
  std::optional<child_process> process_;
};

// True when something accepts connections at a libzmq endpoint (ipc:// or tcp://).
[[nodiscard]] bool accepts_connections(const std::string& endpoint);
[[nodiscard]] int free_tcp_port();

}  // namespace orc::test
