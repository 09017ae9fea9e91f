// Completes a participant's options from its environment.
#pragma once

#include <string>

#include "base/expected.h"
#include "orc/options.h"

namespace orc::detail {

// Checks a list of broker endpoints (empty: $ORC_BROKER).
[[nodiscard]] result check_broker(const std::string& named);

// Rejects a broker's endpoint without scheme or port. Fills in $ORC_ADVERTISE, $ORC_NAMESPACE, $ORC_PORTS and
// $ORC_TRANSPORTS where the options are empty. Turns a host name to advertise into a number, which may take as long as
// the system's resolver needs. The error names the wrong option or variable.
[[nodiscard]] expected<participant_options> with_environment(participant_options options);

}  // namespace orc::detail
