#include "listener.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <memory>

#include "wire/run_dir.h"
#include "wire/stray_descriptors.h"

namespace orc {
namespace {

using detail::unique_fd;

constexpr std::string_view ipc_scheme = "ipc://";
constexpr std::string_view tcp_scheme = "tcp://";
constexpr int stream_type = SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK;
constexpr int backlog = 4096;

// A host that is gone: noticed after idle_s + probes * interval_s while nothing is on its way, else after as long.
constexpr int idle_s = 10;
constexpr int interval_s = 5;
constexpr int probes = 3;
constexpr int unanswered_ms = (idle_s + probes * interval_s) * 1000;

union any_address {
  sockaddr any;
  sockaddr_in v4;
  sockaddr_in6 v6;
  sockaddr_storage largest;
};

void set_option(int fd, int level, int name, int value) noexcept {
  (void)::setsockopt(fd, level, name, &value, sizeof value);
}

std::string tcp_advice(int error) {
  switch (error) {
    case EADDRINUSE:
      return "another program (another orc-broker?) listens there: stop it, or choose another port with --listen";
    case EADDRNOTAVAIL:
    case ENODEV: return "this host has no such address: choose one that `ip address` shows, or * for all";
    case EACCES: return "permission denied: choose a port from 1024 on";
    case EINVAL: return "not an address: write it as tcp://ADDRESS:PORT";
    default: return std::strerror(error);
  }
}

// 0: any. Nothing: it is no port.
std::optional<std::uint16_t> port_of(std::string_view text) {
  if (text == "*") return std::uint16_t{0};
  std::uint16_t port = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (problem != std::errc() || end != text.data() + text.size() || port == 0) return std::nullopt;
  return port;
}

std::optional<in_addr> address_of_interface(const std::string& name) {
  ifaddrs* found = nullptr;
  if (::getifaddrs(&found) != 0) return std::nullopt;
  const std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> owner(found, ::freeifaddrs);
  for (const auto* one = found; one != nullptr; one = one->ifa_next) {
    if (one->ifa_addr == nullptr || one->ifa_addr->sa_family != AF_INET || name != one->ifa_name) continue;
    return reinterpret_cast<const sockaddr_in*>(one->ifa_addr)->sin_addr;
  }
  return std::nullopt;
}

// 0, or the error.
int resolve(const std::string& host, std::uint16_t port, any_address& to, socklen_t& size) {
  to = {};
  to.v4.sin_family = AF_INET;
  to.v4.sin_port = htons(port);
  size = sizeof to.v4;
  if (host.empty()) return EINVAL;
  if (host == "*") return 0;  // INADDR_ANY
  const bool bracketed = host.size() > 2 && host.front() == '[' && host.back() == ']';
  addrinfo hints{};
  hints.ai_family = bracketed ? AF_INET6 : AF_INET;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICHOST | AI_PASSIVE;
  addrinfo* found = nullptr;
  const auto text = bracketed ? host.substr(1, host.size() - 2) : host;
  if (::getaddrinfo(text.c_str(), nullptr, &hints, &found) != 0) {
    const auto address = address_of_interface(host);
    if (!address) return ENODEV;
    to.v4.sin_addr = *address;
    return 0;
  }
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owner(found, ::freeaddrinfo);
  size = found->ai_addrlen;
  std::memcpy(&to, found->ai_addr, size);
  (bracketed ? to.v6.sin6_port : to.v4.sin_port) = htons(port);
  return 0;
}

// An IPv4 address that came by an IPv6 socket is one all the same.
std::string numeric(const any_address& address) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  const void* bytes = &address.v4.sin_addr;
  int family = AF_INET;
  if (address.any.sa_family == AF_INET6) {
    const auto* const six = &address.v6.sin6_addr;
    const bool mapped = IN6_IS_ADDR_V4MAPPED(six);
    family = mapped ? AF_INET : AF_INET6;
    bytes = mapped ? six->s6_addr + 12 : six->s6_addr;
  }
  return ::inet_ntop(family, bytes, text.data(), text.size()) == nullptr ? std::string() : text.data();
}

bool loopback(const any_address& address) {
  const auto text = numeric(address);
  return text == "::1" || text.starts_with("127.");
}

}  // namespace

std::variant<listener, std::string> listener::open(const std::string& endpoint) {
  if (endpoint.starts_with(ipc_scheme)) return open_path(endpoint.substr(ipc_scheme.size()));
  if (endpoint.starts_with(tcp_scheme)) return open_port(endpoint.substr(tcp_scheme.size()));
  return "neither ipc://PATH nor tcp://ADDRESS:PORT";
}

std::variant<listener, std::string> listener::open_path(const std::string& path) {
  auto guard = ipc_guard::take(path);
  if (auto* const wrong = std::get_if<std::string>(&guard)) return std::move(*wrong);
  listener made(unique_fd(::socket(AF_UNIX, stream_type, 0)), std::string(ipc_scheme) + path);
  made.guard_.emplace(std::move(std::get<ipc_guard>(guard)));
  (void)wire::refuse_descriptors(made.fd());  // connections inherit it
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::copy(path.begin(), path.end(), address.sun_path);
  (void)::unlink(path.c_str());  // what a killed broker left behind: the guard knows that nothing answers there
  if (made.fd() < 0 || ::bind(made.fd(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    return std::string(std::strerror(errno)) + ": choose another path with --listen";
  }
  // Before listen(), so that none connects under the mode of the umask.
  if (auto wrong = made.guard_->set_mode(); !wrong.empty()) return wrong;
  if (::listen(made.fd(), backlog) != 0) return std::string(std::strerror(errno));
  return made;
}

std::variant<listener, std::string> listener::open_port(const std::string& where) {
  const auto colon = where.rfind(':');
  const auto port = colon == std::string::npos ? std::nullopt : port_of(std::string_view(where).substr(colon + 1));
  if (!port) return "no port from 1 to 65535, or * for any: write it as tcp://ADDRESS:PORT";
  any_address address;
  socklen_t size = 0;
  if (const int error = resolve(where.substr(0, colon), *port, address, size); error != 0) return tcp_advice(error);
  unique_fd fd(::socket(address.any.sa_family, stream_type, 0));
  set_option(fd.get(), SOL_SOCKET, SO_REUSEADDR, 1);  // a broker that is started again must not wait for TIME_WAIT
  if (address.any.sa_family == AF_INET6) set_option(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, 0);
  if (!fd || ::bind(fd.get(), &address.any, size) != 0 || ::listen(fd.get(), backlog) != 0 ||
      ::getsockname(fd.get(), &address.any, &size) != 0) {
    return tcp_advice(errno);
  }
  const bool six = address.any.sa_family == AF_INET6;
  const auto host = six ? "[" + where.substr(1, colon - 2) + "]" : numeric(address);
  listener made(std::move(fd), std::string(tcp_scheme) + host + ":" +
                                   std::to_string(ntohs(six ? address.v6.sin6_port : address.v4.sin_port)));
  made.remote_ = !loopback(address);
  return made;
}

listener::~listener() {
  if (fd_) ::shutdown(fd_.get(), SHUT_RDWR);
}

unique_fd listener::accept() noexcept {
  for (;;) {
    unique_fd fd(::accept4(fd_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!fd && (errno == EINTR || errno == ECONNABORTED)) continue;
    if (!fd || guard_) return fd;
    set_option(fd.get(), IPPROTO_TCP, TCP_NODELAY, 1);
    set_option(fd.get(), SOL_SOCKET, SO_KEEPALIVE, 1);
    set_option(fd.get(), IPPROTO_TCP, TCP_KEEPIDLE, idle_s);
    set_option(fd.get(), IPPROTO_TCP, TCP_KEEPINTVL, interval_s);
    set_option(fd.get(), IPPROTO_TCP, TCP_KEEPCNT, probes);
    set_option(fd.get(), IPPROTO_TCP, TCP_USER_TIMEOUT, unanswered_ms);
    return fd;
  }
}

peer listener::peer_of(int connection) const {
  peer who;
  if (guard_) {
    ucred found{};
    socklen_t size = sizeof found;
    // Without an answer it is the most foreign user that there is.
    if (::getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &found, &size) != 0) found = {0, ~uid_t{0}, ~gid_t{0}};
    who.uid = found.uid;
    who.pid = static_cast<std::uint32_t>(found.pid);
    who.directory = detail::directory_beside(endpoint_);
    return who;
  }
  any_address address{};
  socklen_t size = sizeof address;
  who.way = peer::via::tcp;
  if (::getpeername(connection, &address.any, &size) == 0) who.address = numeric(address);
  return who;
}

}  // namespace orc
