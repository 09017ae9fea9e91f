// The command line of orc-web.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "base/network/ip_address.h"

namespace orc::web {

struct options {
  std::vector<std::string> files = {};  // recordings; empty: the running system
  detail::ip_port listen = {};
  std::string broker = {};
  bool all_topics = false;  // also ORC's own
  bool allow_publish = false;
  std::vector<std::string> origins = {};  // of viewers on other web pages
};

// Reads the command line, or returns the exit code when there is nothing more to do.
[[nodiscard]] std::variant<options, int> read_options(int argc, char** argv);

}  // namespace orc::web
