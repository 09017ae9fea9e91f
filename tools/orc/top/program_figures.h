// What `orc top` shows of the services and the parameters of running programs.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "orc/calls/find_services.h"
#include "orc/calls/service.h"

namespace orc::cli {

struct service_row {
  service_description service = {};
  std::optional<service_figures> figures = {};  // nothing: the service has not published them yet
};

struct parameter_row {
  std::string name = {};
  participant_state owner = {};
  std::string value = {};    // as text without control characters; "?": the program does not answer
  std::string allowed = {};  // the type and the range, for people
  std::string description = {};
};

// In the order of their names.
struct program_figures {
  std::vector<service_row> services = {};
  std::vector<parameter_row> parameters = {};
  std::size_t left_out = 0;  // services or parameters above the limits
};

}  // namespace orc::cli
