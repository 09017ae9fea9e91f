// The participants of orc-web.
#pragma once

#include <string>

#include "orc/options.h"
#include "wire/name_space.h"

namespace orc::web {

// Its names are full ones. Its set-up calls wait for no broker.
[[nodiscard]] inline participant_options own_participant(const std::string& broker, const char* name) {
  participant_options options;
  options.broker = broker;
  options.name = name;
  options.name_space = wire::no_name_space;
  options.broker_timeout = std::chrono::milliseconds(0);
  return options;
}

}  // namespace orc::web
