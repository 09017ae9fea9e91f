// Checks endpoints of a broker as people write them.
#pragma once

#include <optional>
#include <string>

namespace orc::wire {

struct endpoint_problem {
  std::string text;     // "10.0.0.2:5570 has no scheme: write tcp://10.0.0.2:5570"
  std::string instead;  // the probable intention; empty: unknown
};

// Returns the problem of an endpoint; nothing: it has the form of one. Looks no name up.
[[nodiscard]] std::optional<endpoint_problem> problem_of_broker_endpoint(const std::string& endpoint);

}  // namespace orc::wire
