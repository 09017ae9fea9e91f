// The directory in which a participant's sockets live: beside the broker's, readable by exactly those who may use that
// broker (schemas/PROTOCOL.md, "Where a publication listens").
#pragma once

#include <string>
#include <variant>

#include "orc/result.h"

namespace orc::detail {

// Makes (if needed) and checks <directory of the broker>/<uid>: 0700 in a user's directory, shared with the group in
// one that the group may use. `broker_directory` itself is made 0700 when missing. Removes sockets that nobody listens
// on any more. Another user's directory is not used unless it is the one of a broker that was `chosen` by name.
[[nodiscard]] std::variant<std::string, error> prepare_endpoint_directory(const std::string& broker_directory,
                                                                          bool chosen);

// Lets the group connect to a socket when its directory is shared with the group.
void share_with_group(const std::string& socket_path);

}  // namespace orc::detail
