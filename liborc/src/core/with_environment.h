// Completes a participant's options from its environment.
#pragma once

#include <optional>
#include <string>
#include <variant>

#include "orc/options.h"
#include "orc/result.h"

namespace orc::detail {

// Returns the problem of a list of broker endpoints (empty: $ORC_BROKER), if there is one.
[[nodiscard]] std::optional<error> problem_of_broker(const std::string& named);

// Rejects a broker's endpoint without scheme or port. Fills in $ORC_ADVERTISE, $ORC_PORTS and $ORC_TRANSPORTS where the
// options are empty. Turns a host name to advertise into a number, which may take as long as the system's resolver
// needs. The error names the wrong option or variable.
[[nodiscard]] std::variant<participant_options, error> with_environment(participant_options options);

}  // namespace orc::detail
