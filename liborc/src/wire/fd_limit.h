// libzmq aborts the process when it runs out of file descriptors while it makes a context or a socket, so ORC looks
// first.
#pragma once

#include <cstddef>

namespace orc::detail {

// Can at least `count` more files be opened? True when the answer cannot be found out. May be called from any thread.
[[nodiscard]] bool room_for_fds(std::size_t count);

// Raises the soft limit of open files to the hard one. For programs, not for the library: it changes the process.
void raise_fd_limit() noexcept;

}  // namespace orc::detail
