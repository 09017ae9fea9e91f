#include "broker/connections/listener.h"

#include <ifaddrs.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <memory>

#include "base/files/run_dir.h"
#include "base/files/stray_descriptors.h"
#include "base/network/ip_address.h"
#include "base/network/tcp_listener.h"

namespace orc {
namespace {

using detail::expected;
using detail::ip_address;
using detail::ip_port;
using detail::socket_address;
using detail::unable;
using detail::unique_fd;

constexpr std::string_view ipc_scheme = "ipc://";
constexpr std::string_view tcp_scheme = "tcp://";
constexpr std::string_view any_host = "*";
constexpr int stream_type = SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK;
constexpr int backlog = 4096;

// A host that is gone is noticed after idle_s + probes * interval_s when nothing is on its way, else after as long.
constexpr int idle_s = 10;
constexpr int interval_s = 5;
constexpr int probes = 3;
constexpr int unanswered_ms = (idle_s + probes * interval_s) * 1000;

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

// Returns the port; 0: any; nothing: it is no port.
std::optional<std::uint16_t> port_of(std::string_view text) {
  if (text == "*") return std::uint16_t{0};
  std::uint16_t port = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (problem != std::errc() || end != text.data() + text.size() || port == 0) return std::nullopt;
  return port;
}

// Of several addresses, returns the one that most hosts can use: IPv4 before IPv6, link-local addresses last.
std::optional<ip_address> address_of_interface(const std::string& name) {
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0) return std::nullopt;
  const std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> owner(list, ::freeifaddrs);
  const auto rank = [](const ip_address& a) { return (a.is_link_local() ? 2 : 0) + (a.is_v4() ? 0 : 1); };
  std::optional<ip_address> best;
  for (const auto* each = list; each != nullptr; each = each->ifa_next) {
    if (each->ifa_addr == nullptr || name != each->ifa_name) continue;
    const auto found = ip_port::of(*each->ifa_addr);
    if (found && (!best || rank(found->address) < rank(*best))) best = found->address;
  }
  return best;
}

// Nothing: there is no such address or interface.
std::optional<ip_address> address_of(const std::string& host) {
  if (host == any_host) return ip_address{};  // ::, which stands for both families
  const bool bracketed = host.size() > 2 && host.front() == '[' && host.back() == ']';
  const auto number = ip_address::parse(bracketed ? std::string_view(host).substr(1, host.size() - 2) : host);
  if (!number) return address_of_interface(host);
  return bracketed == (host.find(':') != std::string::npos) ? number : std::nullopt;
}

}  // namespace

expected<listener> listener::open(const std::string& endpoint, std::optional<gid_t> group) {
  if (endpoint.starts_with(ipc_scheme)) return open_path(endpoint.substr(ipc_scheme.size()), group);
  if (endpoint.starts_with(tcp_scheme)) return open_port(endpoint.substr(tcp_scheme.size()));
  return unable("neither ipc://PATH nor tcp://ADDRESS:PORT");
}

listener& listener::operator=(listener&& other) noexcept {
  guard_.reset();
  if (other.guard_) guard_.emplace(*std::move(other.guard_));
  if (fd_) ::shutdown(fd_.get(), SHUT_RDWR);  // as at its end
  fd_ = std::move(other.fd_);
  endpoint_ = std::move(other.endpoint_);
  remote_ = other.remote_;
  return *this;
}

expected<listener> listener::open_path(const std::string& path, std::optional<gid_t> group) {
  auto guard = ipc_guard::take(path, group);
  if (!guard) return guard.error();
  listener made(unique_fd(::socket(AF_UNIX, stream_type, 0)), std::string(ipc_scheme) + path);
  made.guard_.emplace(*std::move(guard));
  (void)detail::refuse_descriptors(made.fd());  // connections inherit it
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::copy(path.begin(), path.end(), address.sun_path);
  (void)::unlink(path.c_str());  // left behind by a killed broker: the guard knows that no program answers there
  if (made.fd() < 0 || ::bind(made.fd(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    return unable(std::string(std::strerror(errno)) + ": choose another path with --listen");
  }
  // Sets the mode before listen(), so that no program connects under the mode of the umask.
  if (auto done = made.guard_->set_mode(); !done) return done.error();
  if (::listen(made.fd(), backlog) != 0) return unable(std::strerror(errno));
  return made;
}

expected<listener> listener::open_port(const std::string& where) {
  const auto colon = where.rfind(':');
  const auto port = colon == std::string::npos ? std::nullopt : port_of(std::string_view(where).substr(colon + 1));
  if (!port) return unable("no port from 1 to 65535, or * for any: write it as tcp://ADDRESS:PORT");
  const auto host = where.substr(0, colon);
  if (host.empty()) return unable(tcp_advice(EINVAL));
  const auto address = address_of(host);
  if (!address) {
    const bool is_name = host.find_first_of("[]:") == std::string::npos;
    return unable(is_name ? host +
                                " is neither an address nor an interface of this host: write an address, such as "
                                "127.0.0.1, or * for all"
                          : tcp_advice(ENODEV));
  }
  ip_port at{*address, *port};
  const bool everywhere = host == any_host;
  unique_fd fd(everywhere ? detail::listen_tcp_everywhere(at, backlog) : detail::listen_tcp(at, backlog));
  if (!fd) return unable(tcp_advice(errno));
  const auto shown = everywhere ? "*:" + std::to_string(at.port) : at.text();
  listener made(std::move(fd), std::string(tcp_scheme) + shown);
  made.remote_ = !address->is_loopback();
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
    // Without an answer, counts it as the most foreign user.
    if (::getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &found, &size) != 0) found = {0, ~uid_t{0}, ~gid_t{0}};
    who.uid = found.uid;
    who.pid = static_cast<std::uint32_t>(found.pid);
    who.directory = detail::directory_beside(endpoint_);
    return who;
  }
  socket_address address;
  who.way = peer::via::tcp;
  if (::getpeername(connection, address.get(), address.room()) != 0) return who;
  if (const auto there = address.value()) who.address = there->address.text();
  return who;
}

}  // namespace orc
