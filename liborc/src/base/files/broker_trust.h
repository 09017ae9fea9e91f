// Decides whether a program may use a broker that it found by searching. Another user can take a name in /tmp and would
// then receive our topics. schemas/PROTOCOL.md, "Where the broker is".
#pragma once

#include <string>

namespace orc::detail {

// Returns why no socket in `directory` may be used, as a part of a sentence: "/tmp/orc-1000 belongs to uid 1001".
// Empty: it may be used, or there is no such directory. It must belong to this user or root, or be the system's, and
// others must not be able to write to it.
[[nodiscard]] std::string why_foreign(const std::string& directory);

// Same for an ipc endpoint in its directory, and for the process that listens there (SO_PEERCRED): it must belong to
// the directory's owner, this user or root. Does not block. Empty for other endpoints.
[[nodiscard]] std::string why_distrusted(const std::string& endpoint);

}  // namespace orc::detail
