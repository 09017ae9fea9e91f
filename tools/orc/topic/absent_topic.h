// What a tool says of a topic that no program publishes.
#pragma once

#include <string>

#include "orc/directory.h"

namespace orc::cli {

// "no publisher of 'robot_positon': did you mean robot_position?" Asks the broker for the topics: one that is
// published comes first, then one that is only requested. The question is left out when none has a near name.
[[nodiscard]] std::string absence_text(const std::string& topic, directory& from);

// Returns what to say of a question about this topic that failed.
[[nodiscard]] std::string failure_text(const std::string& topic, directory& from, const result& failure);

}  // namespace orc::cli
