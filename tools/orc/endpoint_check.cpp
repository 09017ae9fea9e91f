#include "endpoint_check.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "wire/broker_trust.h"
#include "wire/host_addresses.h"

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

}  // namespace

std::vector<std::string> ways_to(const std::vector<std::string>& endpoints) {
  std::vector<std::string> ways;
  for (const auto& each : endpoints) {
    auto numbers = wire::numeric_endpoints(each);
    if (numbers.empty()) numbers.push_back(each);
    ways.insert(ways.end(), numbers.begin(), numbers.end());
  }
  return ways;
}

std::string why_silent(const std::string& endpoint) {
  if (wire::names_a_host(endpoint)) return "no such host";
  int failure = 0;
  if (endpoint.starts_with("ipc://")) {
    failure = try_ipc(endpoint.substr(6));
  } else if (const auto there = wire::numbers_in(endpoint)) {
    const wire::socket_address address(*there);
    failure = try_connect(address.get(), address.size());
  }
  switch (failure) {
    case ENOENT:
    case ENOTDIR: return "nothing there";
    case ECONNREFUSED: return "nobody listens";
    case EACCES:
    case EPERM: return "no permission";
    case EHOSTUNREACH:
    case ENETUNREACH:
    case EADDRNOTAVAIL: return "no route";
    default: return {};
  }
}

std::string why_ignored(const std::string& endpoint) {
  const std::string distrusted = detail::why_distrusted(endpoint);
  return distrusted.empty() ? distrusted : distrusted + ": ignored";
}

}  // namespace orc::cli
