// Which topics of a recording are meant: --topics and --exclude.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tools/command_line/cli_fwd.h"

namespace orc::cli {

struct topic_filter {
  std::vector<std::string> only;     // patterns; empty: all topics
  std::vector<std::string> exclude;  // patterns; they count more than `only`

  [[nodiscard]] bool takes_all() const noexcept { return only.empty() && exclude.empty(); }
  // The name may be any bytes.
  [[nodiscard]] bool takes(std::string_view topic) const noexcept;
};

// Adds --topics and --exclude, which check that their values are patterns of topic names.
void add_topic_filter(CLI::App& command, topic_filter& filter);

}  // namespace orc::cli
