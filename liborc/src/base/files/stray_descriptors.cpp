#include "base/files/stray_descriptors.h"

#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace orc::detail {

bool refuse_descriptors(int socket) noexcept {
  int domain = AF_UNSPEC;
  socklen_t size = sizeof domain;
  if (::getsockopt(socket, SOL_SOCKET, SO_DOMAIN, &domain, &size) != 0 || domain != AF_UNIX) return true;
  constexpr int so_passrights = 83;
  const int none = 0;
  return ::setsockopt(socket, SOL_SOCKET, so_passrights, &none, sizeof none) == 0;
}

void close_at_once(int descriptor) noexcept {
  const linger none{1, 0};
  (void)::setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &none, sizeof none);  // fails, except for sockets
  ::close(descriptor);
}

ssize_t receive_without_descriptors(int socket, std::span<iovec> parts) noexcept {
  alignas(cmsghdr) char control[CMSG_SPACE(max_descriptors * sizeof(int))];
  msghdr message{};
  message.msg_iov = parts.data();
  message.msg_iovlen = parts.size();
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  const ssize_t n = ::recvmsg(socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  if (n < 0 || message.msg_controllen == 0) return n;
  for (cmsghdr* each = CMSG_FIRSTHDR(&message); each != nullptr; each = CMSG_NXTHDR(&message, each)) {
    if (each->cmsg_level != SOL_SOCKET || each->cmsg_type != SCM_RIGHTS) continue;
    for (std::size_t at = CMSG_LEN(0); at + sizeof(int) <= each->cmsg_len; at += sizeof(int)) {
      int descriptor = -1;
      std::memcpy(&descriptor, reinterpret_cast<const char*>(each) + at, sizeof descriptor);
      close_at_once(descriptor);
    }
  }
  errno = EPROTO;
  return -1;
}

}  // namespace orc::detail
