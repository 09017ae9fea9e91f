#include "attacker/line.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <span>

#include "wire/zmtp.h"

namespace orc::test {

namespace {

namespace zmtp = orc::wire::zmtp;
using clock = std::chrono::steady_clock;

[[nodiscard]] bool wait_for(int fd, short events, clock::time_point end) {
  pollfd entry{fd, events, 0};
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - clock::now()).count();
  return ::poll(&entry, 1, static_cast<int>(left > 0 ? left : 0)) == 1;
}

[[nodiscard]] detail::unique_fd to_path(const std::string& path, int type) {
  sockaddr_un address{};
  if (path.size() >= sizeof address.sun_path) return {};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.data(), path.size());
  detail::unique_fd fd(::socket(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) return {};
  return fd;
}

[[nodiscard]] detail::unique_fd to_port(const std::string& where) {
  const auto colon = where.rfind(':');
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(std::atoi(where.c_str() + colon + 1)));
  if (::inet_pton(AF_INET, where.substr(0, colon).c_str(), &address.sin_addr) != 1) return {};
  detail::unique_fd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const int rc = ::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address);
  if (rc != 0 && (errno != EINPROGRESS || !wait_for(fd.get(), POLLOUT, clock::now() + std::chrono::milliseconds(200))))
    return {};
  return fd;
}

[[nodiscard]] detail::unique_fd connected(const std::string& endpoint) {
  const std::string where = endpoint.substr(std::min(endpoint.size(), std::size_t{6}));
  if (endpoint.starts_with("ipc://")) return to_path(where, SOCK_STREAM);
  if (endpoint.starts_with("shm://")) return to_path(where, SOCK_SEQPACKET);
  return endpoint.starts_with("tcp://") ? to_port(where) : detail::unique_fd();
}

}  // namespace

std::string frame_of(std::string_view body, std::uint8_t flags) {
  const auto header = zmtp::encode_frame_header(body.size(), flags);
  return std::string(reinterpret_cast<const char*>(header.bytes.data()), header.size) + std::string(body);
}

line::line(const std::string& endpoint) : fd_(connected(endpoint)) {}

bool line::introduce(std::string_view identity) {
  const auto greeting = zmtp::greeting();
  std::string ready("\5READY\13Socket-Type\0\0\0\6DEALER", 28);
  if (!identity.empty()) {
    ready += std::string("\10Identity\0\0", 11);
    ready += static_cast<char>(identity.size() >> 8);
    ready += static_cast<char>(identity.size() & 0xff);
    ready += identity;
  }
  return say({reinterpret_cast<const char*>(greeting.data()), greeting.size()}) && say(frame_of(ready, zmtp::command));
}

bool line::say(std::string_view bytes, std::chrono::milliseconds within) {
  const auto end = clock::now() + within;
  while (!bytes.empty()) {
    const long n = push(bytes);
    if (n < 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(n));
    if (!bytes.empty() && !wait_for(fd_.get(), POLLOUT, end)) return false;
  }
  return true;
}

long line::push(std::string_view bytes) {
  if (!fd_) return -1;
  const ssize_t n = ::send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  if (n >= 0) return n;
  if (errno == EAGAIN || errno == EINTR || errno == ENOBUFS) return 0;
  fd_.reset();
  return -1;
}

bool line::say_frame(std::string_view body, bool more) {
  return say(frame_of(body, static_cast<std::uint8_t>(more ? zmtp::more : 0)));
}

bool line::fill(clock::time_point end) {
  char bytes[65536];
  if (!fd_ || !wait_for(fd_.get(), POLLIN, end)) return false;
  const ssize_t n = ::recv(fd_.get(), bytes, sizeof bytes, MSG_DONTWAIT);
  if (n <= 0) return false;
  heard_.append(bytes, static_cast<std::size_t>(n));
  return true;
}

std::optional<std::string> line::hear(std::chrono::milliseconds within) {
  const auto end = clock::now() + within;
  for (;;) {
    if (!greeted_ && heard_.size() >= zmtp::greeting_bytes) {
      heard_.erase(0, zmtp::greeting_bytes);
      greeted_ = true;
    }
    const auto header = zmtp::decode_frame_header(std::as_bytes(std::span(heard_)));
    if (greeted_ && header && heard_.size() >= header->header_size + header->size) {
      std::string body = heard_.substr(header->header_size, header->size);
      heard_.erase(0, header->header_size + header->size);
      if ((header->flags & zmtp::command) == 0) return body;
      continue;
    }
    if (!fill(end)) return std::nullopt;
  }
}

void line::reset() {
  const linger now{1, 0};
  if (fd_) ::setsockopt(fd_.get(), SOL_SOCKET, SO_LINGER, &now, sizeof now);
  fd_.reset();
}

}  // namespace orc::test
