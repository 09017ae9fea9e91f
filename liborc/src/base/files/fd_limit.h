// libzmq aborts the process when it runs out of file descriptors while it makes a context or a socket. So ORC checks
// first.
#pragma once

#include <cstddef>

namespace orc::detail {

// Returns whether `fd`, just opened, is among the last numbers of this process. The kernel gives the lowest free
// number, so then hardly any are left. Costs one cheap system call, unlike room_for_fds.
[[nodiscard]] bool among_the_last_fds(int fd) noexcept;

// Same for the last quarter of the numbers.
[[nodiscard]] bool fds_are_scarce(int fd) noexcept;

// Returns how many files this process may have open; SIZE_MAX: no limit. One cheap system call.
[[nodiscard]] std::size_t fd_limit() noexcept;

// Returns whether at least `count` more files can be opened, and true when that cannot be found out. Any thread.
[[nodiscard]] bool room_for_fds(std::size_t count);

// Raises the soft limit of open files to the hard one. For programs only, because it changes the whole process.
void raise_fd_limit() noexcept;

}  // namespace orc::detail
