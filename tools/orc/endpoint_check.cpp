#include "endpoint_check.h"

#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>

#include "wire/broker_trust.h"

namespace orc::cli {

namespace {

// errno of a connection attempt; 0 when it worked or cannot be told in time.
int try_connect(const sockaddr* address, socklen_t length) {
  const int fd = socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return 0;
  int failure = connect(fd, address, length) == 0 ? 0 : errno;
  if (failure == EINPROGRESS) {
    pollfd item = {fd, POLLOUT, 0};
    socklen_t size = sizeof failure;
    if (poll(&item, 1, 200) != 1 || getsockopt(fd, SOL_SOCKET, SO_ERROR, &failure, &size) != 0) failure = 0;
  }
  close(fd);
  return failure;
}

int try_ipc(const std::string& path) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path || path.starts_with('@')) return 0;
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  return try_connect(reinterpret_cast<const sockaddr*>(&address), sizeof address);
}

// Numeric addresses only: a name may take long to look up, libzmq does that on its own thread.
int try_tcp(const std::string& host_and_port) {
  const std::size_t colon = host_and_port.rfind(':');
  if (colon == std::string::npos) return 0;
  std::string host = host_and_port.substr(0, colon);
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') host = host.substr(1, host.size() - 2);
  addrinfo hints = {};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  if (getaddrinfo(host.c_str(), host_and_port.c_str() + colon + 1, &hints, &found) != 0) return 0;
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owner(found, &freeaddrinfo);
  return try_connect(found->ai_addr, found->ai_addrlen);
}

}  // namespace

std::string why_silent(const std::string& endpoint) {
  int failure = 0;
  if (endpoint.starts_with("ipc://")) {
    failure = try_ipc(endpoint.substr(6));
  } else if (endpoint.starts_with("tcp://")) {
    failure = try_tcp(endpoint.substr(6));
  }
  switch (failure) {
    case ENOENT:
    case ENOTDIR: return "nothing there";
    case ECONNREFUSED: return "nobody listens";
    case EACCES:
    case EPERM: return "no permission";
    case EHOSTUNREACH:
    case ENETUNREACH: return "no route";
    default: return {};
  }
}

std::string why_ignored(const std::string& endpoint) {
  const std::string distrusted = detail::why_distrusted(endpoint);
  return distrusted.empty() ? distrusted : distrusted + ": ignored";
}

}  // namespace orc::cli
