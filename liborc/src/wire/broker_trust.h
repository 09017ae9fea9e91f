// May a broker that was found by searching be used? Names in /tmp can be taken by another user, who then would be
// given our topics. schemas/PROTOCOL.md, "Where the broker is".
#pragma once

#include <string>

namespace orc::detail {

// Why no socket in `directory` may be used: one sentence part, "/tmp/orc-1000 belongs to uid 1001". Empty: it may, or
// there is no such directory. It has to belong to this user or root, or to be the system's; others may not write to it.
[[nodiscard]] std::string why_foreign(const std::string& directory);

// The same for an ipc endpoint in its directory, and for the process that listens there (SO_PEERCRED): that of the
// directory's owner, of this user or root. Does not wait. Empty for other endpoints.
[[nodiscard]] std::string why_distrusted(const std::string& endpoint);

}  // namespace orc::detail
