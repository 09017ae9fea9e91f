// Descriptors that a peer sends along over a Unix socket which nobody asked for. They are closed in our process, and
// closing one can take as long as its sender likes: a TCP socket that lingers.
#pragma once

#include <sys/types.h>

#include <cstddef>

namespace orc::wire {

// The most that one message carries (SCM_MAX_FD).
constexpr std::size_t most_descriptors = 253;

// True: none come over this socket, as the kernel refuses them (since 6.16) or it is no Unix socket.
bool refuse_descriptors(int socket) noexcept;
// As recv(2) with MSG_DONTWAIT, for the others. A message with descriptors is an error, EPROTO.
[[nodiscard]] ssize_t receive_without_descriptors(int socket, void* to, std::size_t size) noexcept;
// Closes one without waiting.
void close_at_once(int descriptor) noexcept;

}  // namespace orc::wire
