#include "doctor_conversation.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>

#include "text.h"

namespace orc::cli {

namespace {

constexpr std::size_t longest_line = 512;
constexpr int stream_type = SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK;

std::string why_unreachable(int error) {
  switch (error) {
    case ECONNREFUSED: return "refused: nobody listens there, or a firewall says so";
    case ETIMEDOUT: return "no answer: is it switched on, or does a firewall drop what comes?";
    default: return std::strerror(error);
  }
}

// 0 or errno.
int connect_in_time(int fd, const sockaddr_in& to, const stop_signal& stop) {
  if (::connect(fd, reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0) return 0;
  if (errno != EINPROGRESS) return errno;
  const auto until = stop_signal::clock::now() + connection_patience;
  while (!stop.raised() && stop_signal::clock::now() < until) {
    pollfd entry{fd, POLLOUT, 0};
    if (::poll(&entry, 1, 50) != 1) continue;
    int problem = 0;
    socklen_t size = sizeof problem;
    return ::getsockopt(fd, SOL_SOCKET, SO_ERROR, &problem, &size) == 0 ? problem : errno;
  }
  return ETIMEDOUT;
}

}  // namespace

std::vector<std::string> addresses_of_host(const std::string& name) {
  addrinfo hints{};
  hints.ai_family = AF_INET;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (::getaddrinfo(name.c_str(), nullptr, &hints, &found) != 0) return {};
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owner(found, ::freeaddrinfo);
  std::vector<std::string> all;
  for (const auto* each = found; each != nullptr; each = each->ai_next) {
    sockaddr_in address{};
    std::memcpy(&address, each->ai_addr, sizeof address);
    const auto text = text_of(address.sin_addr);
    if (std::find(all.begin(), all.end(), text) == all.end()) all.push_back(text);
  }
  return all;
}

std::variant<detail::unique_fd, std::string> listen_for_doctor(std::uint16_t& port) {
  detail::unique_fd fd(::socket(AF_INET, stream_type, 0));
  const int on = 1;
  (void)::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_port = htons(port);
  socklen_t size = sizeof at;
  if (!fd || ::bind(fd.get(), reinterpret_cast<const sockaddr*>(&at), sizeof at) != 0 || ::listen(fd.get(), 16) != 0 ||
      ::getsockname(fd.get(), reinterpret_cast<sockaddr*>(&at), &size) != 0)
    return "cannot listen on port " + std::to_string(port) + ": " + std::strerror(errno);
  port = ntohs(at.sin_port);
  return fd;
}

std::variant<doctor_line, std::string> doctor_line::connect(const host_and_port& to, const stop_signal& stop) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(to.port);
  if (::inet_pton(AF_INET, to.address.c_str(), &address.sin_addr) != 1) return "not an IPv4 address";
  detail::unique_fd fd(::socket(AF_INET, stream_type, 0));
  if (!fd) return std::string(std::strerror(errno));
  if (const int problem = connect_in_time(fd.get(), address, stop); problem != 0) return why_unreachable(problem);
  return doctor_line(std::move(fd));
}

bool doctor_line::say(const std::string& line) {
  const std::string bytes = line + "\n";  // fits the socket's buffer: nothing else waits there
  return ::send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(bytes.size());
}

std::optional<std::string> doctor_line::hear(const stop_signal& stop) {
  const auto until = stop_signal::clock::now() + answer_patience;
  for (;;) {
    if (const auto end = heard_.find('\n'); end != std::string::npos) {
      std::string line = heard_.substr(0, end);
      heard_.erase(0, end + 1);
      return line;
    }
    if (heard_.size() >= longest_line || !stop.wait_readable(fd_.get(), until)) return std::nullopt;
    std::array<char, longest_line> bytes{};
    const auto count = ::recv(fd_.get(), bytes.data(), bytes.size() - heard_.size(), 0);
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) continue;
    if (count <= 0) return std::nullopt;
    heard_.append(bytes.data(), static_cast<std::size_t>(count));
  }
}

std::optional<std::string> doctor_line::ask(const std::string& line, const stop_signal& stop) {
  return say(line) ? hear(stop) : std::nullopt;
}

std::string doctor_line::peer() const {
  sockaddr_in address{};
  socklen_t size = sizeof address;
  if (::getpeername(fd_.get(), reinterpret_cast<sockaddr*>(&address), &size) != 0) return {};
  return text_of(address.sin_addr);
}

}  // namespace orc::cli
