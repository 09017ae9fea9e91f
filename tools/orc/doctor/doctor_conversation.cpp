#include "tools/orc/doctor/doctor_conversation.h"

#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "base/network/network_error.h"
#include "base/network/port_range.h"
#include "base/network/tcp_listener.h"
#include "base/process/environment.h"
#include "wire/control.h"

namespace orc::cli {

namespace {

constexpr std::size_t max_line_length = 512;
constexpr std::size_t full_packets = 4;
constexpr auto ask_again = std::chrono::milliseconds(10);
constexpr int stream_type = SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK;

// 0 or errno.
int connect_in_time(int fd, const detail::socket_address& to, const detail::stop_signal& stop) {
  if (::connect(fd, to.get(), to.size()) == 0) return 0;
  if (errno != EINPROGRESS) return errno;
  const auto until = detail::stop_signal::clock::now() + connection_patience;
  while (!stop.raised() && detail::stop_signal::clock::now() < until) {
    pollfd entry{fd, POLLOUT, 0};
    if (::poll(&entry, 1, 50) != 1) continue;
    int problem = 0;
    socklen_t size = sizeof problem;
    return ::getsockopt(fd, SOL_SOCKET, SO_ERROR, &problem, &size) == 0 ? problem : errno;
  }
  return ETIMEDOUT;
}

}  // namespace

detail::expected<detail::unique_fd> listen_for_doctor(std::uint16_t& port) {
  detail::ip_port at{{}, port};
  detail::unique_fd fd(detail::listen_tcp_everywhere(at, 16));
  if (!fd) return detail::unable("cannot listen on port " + std::to_string(port) + ": " + std::strerror(errno));
  port = at.port;
  return fd;
}

detail::expected<detail::unique_fd> listen_on_data_port(std::uint16_t& port) {
  const auto among = detail::port_range::parse(detail::environment("ORC_PORTS"));
  if (!among) return error(among.error().code(), "ORC_PORTS: " + among.error().message());
  detail::unique_fd door;
  error last;
  const bool tried = detail::try_ports(*among, wire::id::random().lo, [&](std::uint16_t each) {
    port = each;
    auto made = listen_for_doctor(port);
    if (!made) last = made.error();
    if (made) door = *std::move(made);
    return static_cast<bool>(door);
  });
  if (tried) return door;
  return among->size() > 1 ? detail::unable(among->all_taken("ss -ltnp")) : last;
}

detail::expected<doctor_line> doctor_line::connect(const detail::ip_port& to, const detail::stop_signal& stop) {
  const detail::socket_address address(to);
  detail::unique_fd fd(::socket(address.family(), stream_type, 0));
  if (!fd) return detail::unable(std::strerror(errno));
  if (const int problem = connect_in_time(fd.get(), address, stop); problem != 0)
    return detail::unable(detail::why_unreachable(problem));
  return doctor_line(std::move(fd));
}

bool doctor_line::say(const std::string& line) {
  const std::string bytes = line + "\n";  // fits the socket's buffer: nothing else waits there
  return ::send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(bytes.size());
}

std::optional<std::string> doctor_line::hear(const detail::stop_signal& stop) {
  const auto until = detail::stop_signal::clock::now() + answer_patience;
  for (;;) {
    if (const auto end = heard_.find('\n'); end != std::string::npos) {
      std::string line = heard_.substr(0, end);
      heard_.erase(0, end + 1);
      return line;
    }
    if (heard_.size() >= max_line_length || !stop.wait_readable(fd_.get(), until)) return std::nullopt;
    std::array<char, max_line_length> bytes{};
    const auto count = ::recv(fd_.get(), bytes.data(), bytes.size() - heard_.size(), 0);
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) continue;
    if (count <= 0) return std::nullopt;
    heard_.append(bytes.data(), static_cast<std::size_t>(count));
  }
}

std::optional<std::string> doctor_line::ask(const std::string& line, const detail::stop_signal& stop) {
  return say(line) ? hear(stop) : std::nullopt;
}

bool doctor_line::carries_full_packets(const detail::stop_signal& stop) {
  int segment = 0;
  socklen_t size = sizeof segment;
  if (::getsockopt(fd_.get(), IPPROTO_TCP, TCP_MAXSEG, &segment, &size) != 0) return true;
  const std::string bytes(full_packets * static_cast<std::size_t>(segment), '.');
  if (::send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(bytes.size())) return true;
  const auto until = detail::stop_signal::clock::now() + connection_patience;
  for (int waiting = 0; ::ioctl(fd_.get(), SIOCOUTQ, &waiting) == 0 && waiting != 0;) {
    const auto now = detail::stop_signal::clock::now();
    if (now >= until) return false;
    if (stop.wait_until(now + ask_again)) return true;
  }
  return true;
}

std::optional<detail::ip_address> doctor_line::peer() const {
  detail::socket_address address;
  if (::getpeername(fd_.get(), address.get(), address.room()) != 0) return std::nullopt;
  const auto there = address.value();
  return there ? std::optional(there->address) : std::nullopt;
}

}  // namespace orc::cli
