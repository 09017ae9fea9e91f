// libzmq aborts the process when it runs out of file descriptors while it makes a context or a socket, so ORC looks
// first.
#pragma once

#include <cstddef>

namespace orc::detail {

// Is `fd`, just opened, among the last numbers of this process? The kernel gives the lowest free one, so then hardly
// any are left. Costs one cheap system call, unlike room_for_fds.
[[nodiscard]] bool among_the_last_fds(int fd) noexcept;

// The same for the last quarter of them.
[[nodiscard]] bool fds_are_scarce(int fd) noexcept;

// How many this process may have open; SIZE_MAX: no limit. As cheap.
[[nodiscard]] std::size_t fd_limit() noexcept;

// Can at least `count` more files be opened? True when the answer cannot be found out. May be called from any thread.
[[nodiscard]] bool room_for_fds(std::size_t count);

// Raises the soft limit of open files to the hard one. For programs, not for the library: it changes the process.
void raise_fd_limit() noexcept;

}  // namespace orc::detail
