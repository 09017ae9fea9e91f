// What the command line of `orc top` says.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "tools/orc/common_options.h"

namespace orc::cli {

enum class top_view : std::uint8_t { topics, participants, hosts, services, parameters };

// For the threads that ask the broker while the screen shows what is known.
inline constexpr auto broker_patience = std::chrono::milliseconds(500);

struct top_options {
  common_options common;
  bool once = false;
  bool all = false;
  top_view view = top_view::topics;
  std::string filter;
  bool colored = true;
};

}  // namespace orc::cli
