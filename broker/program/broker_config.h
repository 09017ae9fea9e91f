// Command line and configuration file of orc-broker.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "broker/broker_log.h"
#include "broker/map/endpoint_rules.h"
#include "broker/map/topic_map.h"

namespace orc {

// --help documents these; scripts and systemd rely on them.
struct exit_code {
  static constexpr int ended_by_signal = 0;
  static constexpr int cannot_serve = 1;
};

struct broker_config {
  std::vector<std::string> listen;
  std::string group;              // a name or a number; empty: the directory's own
  std::optional<gid_t> group_id;  // of `group`
  broker_log_level log_level = broker_log_level::info;
  topic_map_limits limits;
  std::vector<std::string> allow_endpoints;  // ranges of addresses
  std::vector<std::string> peers;            // brokers of other hosts
  bool discover = false;
  std::string domain = "orc";
  std::size_t peer_lease_s = 60;
  std::string host_name;  // empty: gethostname(2)
  std::vector<address_range> allowed_endpoints;
};

// Returns the configuration; or the exit code after --help, --version, --print-config or an error, which is printed
// already.
[[nodiscard]] std::variant<broker_config, int> read_config(int argc, char** argv);

}  // namespace orc
