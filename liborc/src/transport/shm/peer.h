// Who is at the other end of a Unix socket, and may it have the memory?
#pragma once

#include <cstdint>
#include <string>

namespace orc::detail::shm {

// As this process sees it; 0: unknown, as for one in another container.
[[nodiscard]] std::int32_t process_of(int socket) noexcept;

// To the publisher's end. The same user, root, or a member of the group that the socket file `endpoint` ("shm:///path")
// is open to. The permissions of the file say the same; this holds also when somebody passed on a connected descriptor.
[[nodiscard]] bool may_share_memory(int socket, const std::string& endpoint);

// To the subscriber's end, connected to the file `path`: may who listens there choose memory for us? The same user,
// root, or another user of a broker that both may use: the owner of the file and of its directory, which is named after
// that user's id and is open to a group of ours (to root, whatever the group).
[[nodiscard]] bool may_take_memory(int socket, const std::string& path);

}  // namespace orc::detail::shm
