#include "base/network/tcp_listener.h"

#include <unistd.h>

#include <cerrno>

namespace orc::detail {

namespace {

void set_option(int fd, int level, int name, int value) noexcept {
  (void)::setsockopt(fd, level, name, &value, sizeof value);
}

}  // namespace

int listen_tcp(ip_port& at, int backlog) noexcept {
  socket_address address(at);
  const int fd = ::socket(address.family(), SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return -1;
  if (address.family() == AF_INET6) set_option(fd, IPPROTO_IPV6, IPV6_V6ONLY, 0);
  if (at.port != 0) set_option(fd, SOL_SOCKET, SO_REUSEADDR, 1);
  if (::bind(fd, address.get(), address.size()) == 0 && ::listen(fd, backlog) == 0 &&
      ::getsockname(fd, address.get(), address.room()) == 0) {
    at = address.value().value_or(at);
    return fd;
  }
  const int failure = errno;
  ::close(fd);
  errno = failure;
  return -1;
}

int listen_tcp_everywhere(ip_port& at, int backlog) noexcept {
  at.address = {};
  const int fd = listen_tcp(at, backlog);
  if (fd >= 0 || errno != EAFNOSUPPORT) return fd;
  at.address = ip_address::any_v4();
  return listen_tcp(at, backlog);
}

}  // namespace orc::detail
