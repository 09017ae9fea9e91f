// The directory of a participant's sockets: beside the broker's, and readable by exactly the users of that broker
// (schemas/PROTOCOL.md, "Where a publication listens").
#pragma once

#include <string>

#include "base/expected.h"

namespace orc::detail {

// Makes (if needed) and checks <directory of the broker>/<uid>: mode 0700 in a user's directory, shared with the group
// in one that the group may use. Makes a missing `broker_directory` with mode 0700. Removes sockets on which no program
// listens any more. Rejects another user's directory, unless it is that of a broker that was `chosen` by name.
[[nodiscard]] expected<std::string> prepare_endpoint_directory(const std::string& broker_directory, bool chosen);

// Lets the group connect to a socket when its directory is shared with the group.
void share_with_group(const std::string& socket_path);

}  // namespace orc::detail
