// Descriptors that a peer passes over a Unix socket unasked. Our process has to close them, and closing one can take as
// long as the sender likes: a TCP socket that lingers.
#pragma once

#include <sys/types.h>
#include <sys/uio.h>

#include <cstddef>
#include <span>

namespace orc::detail {

// The maximum per message (SCM_MAX_FD).
constexpr std::size_t max_descriptors = 253;

// True: none can come over this socket, because the kernel refuses them (since 6.16) or it is no Unix socket.
bool refuse_descriptors(int socket) noexcept;
// For the other sockets: recvmsg(2) with MSG_DONTWAIT. A message with descriptors is the error EPROTO.
[[nodiscard]] ssize_t receive_without_descriptors(int socket, std::span<iovec> parts) noexcept;
[[nodiscard]] inline ssize_t receive_without_descriptors(int socket, void* to, std::size_t size) noexcept {
  iovec part{to, size};
  return receive_without_descriptors(socket, {&part, 1});
}
// Closes a descriptor without waiting.
void close_at_once(int descriptor) noexcept;

}  // namespace orc::detail
