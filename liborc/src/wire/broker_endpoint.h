// Endpoints of a broker as people write them, and what is wrong with those that cannot be one.
#pragma once

#include <optional>
#include <string>

namespace orc::wire {

struct endpoint_problem {
  std::string text;     // "10.0.0.2:5570 has no scheme: write tcp://10.0.0.2:5570"
  std::string instead;  // what was probably meant; empty: that cannot be told
};

// Nothing: it has the form of one. Looks nothing up.
[[nodiscard]] std::optional<endpoint_problem> problem_of_broker_endpoint(const std::string& endpoint);

}  // namespace orc::wire
