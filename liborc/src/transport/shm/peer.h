// Who is at the other end of a Unix socket, and may it have the memory?
#pragma once

#include <cstdint>
#include <string>

namespace orc::detail::shm {

// As this process sees it; 0: unknown, as for one in another container.
[[nodiscard]] std::int32_t process_of(int socket) noexcept;

// The same user, root, or a member of the group that the socket file `endpoint` ("shm:///path") is open to. The
// permissions of the file say the same; this holds also when somebody passed on a connected descriptor.
[[nodiscard]] bool may_share_memory(int socket, const std::string& endpoint);

}  // namespace orc::detail::shm
