// Four hosts with all kinds of traffic between them, the faults of chaos_plan.h, and what has to hold afterwards.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "network/chaos_calls.h"
#include "network/chaos_plan.h"
#include "network/four_brokers.h"
#include "network/lab.h"

namespace orc::test {

class chaos_mesh {
 public:
  explicit chaos_mesh(lab& hosts);

  void begin(const fault& what);
  void end(const fault& what);
  // A program on each host tries to have the same name: one of them gets it.
  void claim(std::size_t host);

  // What does not work now: streams, calls, parameters and the map; what should never happen and did; nothing if all is
  // well. `quiet_ms` is what a first attempt may take.
  [[nodiscard]] std::vector<std::string> wrongs();
  // Ends the clients. Returns which calls did not end exactly once, or succeeded without being executed.
  [[nodiscard]] std::vector<std::string> wrongs_at_the_end();
  [[nodiscard]] std::string counts();

 private:
  struct stream {
    std::string topic;
    std::size_t from, to;
    bool is_command;
    test_node::collected at_first = {};
  };
  void start_server(std::size_t host);
  void follow_all();
  [[nodiscard]] std::string wrong_with(const stream& one, std::uint64_t received_before);
  [[nodiscard]] std::string wrong_with_map(const std::string& topic, std::optional<std::size_t> of) const;
  [[nodiscard]] std::string wrong_with_claims();
  [[nodiscard]] const child_process& process_of(const fault& what) const;

  lab& hosts_;
  execution_log log_;
  four_brokers brokers_;
  std::vector<std::unique_ptr<test_node>> nodes_, claimants_;
  std::vector<std::optional<child_process>> servers_;
  std::vector<std::unique_ptr<chaos_calls>> clients_;  // of host n, then those of more
  std::optional<child_process> parameters_;
  std::vector<stream> streams_;
  std::vector<bool> claims_ = std::vector<bool>(four_brokers::count);
  int round_ = 0;
};

}  // namespace orc::test
