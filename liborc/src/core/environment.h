// A participant's options as its program gave them and its environment completes them.
#pragma once

#include <variant>

#include "orc/options.h"
#include "orc/result.h"

namespace orc::detail {

// Refuses a broker's endpoint without scheme or port, fills in $ORC_ADVERTISE, $ORC_PORTS and $ORC_TRANSPORTS where the
// options are empty, and turns a host name to advertise into a number (that may take the time of the system's
// resolver). An error says what is wrong with which of them.
[[nodiscard]] std::variant<participant_options, error> with_environment(participant_options options);

}  // namespace orc::detail
