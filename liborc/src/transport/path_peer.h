// Identifies the other end of a Unix socket, and decides whether it may be there.
#pragma once

#include <cstdint>
#include <string>

namespace orc::detail {

// The process id as this process sees it; 0: unknown, e.g. in another container.
[[nodiscard]] std::int32_t process_of(int socket) noexcept;

// At the publisher's end: true for the same user, root, or a member of the group that the socket file `endpoint`
// ("shm:///path") is open to. The file's permissions say the same; this check also holds for a connected descriptor
// that another program passed on.
[[nodiscard]] bool may_share_memory(int socket, const std::string& endpoint);

// At the subscriber's end, connected to the file `path`: returns whether the listening program may publish there. True
// for the same user, root, or another user of a shared broker: the owner of the file and of its directory, which is
// named after that user's id and is open to a group of ours (to root, whatever the group).
[[nodiscard]] bool may_publish_at(int socket, const std::string& path);

}  // namespace orc::detail
