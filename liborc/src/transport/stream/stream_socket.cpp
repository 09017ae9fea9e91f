#include "transport/stream/stream_socket.h"

#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>
#include <utility>

#include "base/network/host_addresses.h"
#include "base/network/ip_address.h"
#include "base/network/network_error.h"
#include "base/network/tcp_listener.h"
#include "base/text/printable.h"

namespace orc::detail {

namespace {

constexpr std::string_view tcp_scheme = "tcp://";
constexpr int stream_type = SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK;
constexpr int backlog = 4096;
constexpr std::size_t large_sample = 64 * 1024;
constexpr std::size_t max_unsent_in_kernel = 1024 * 1024;

// A dead host is noticed after idle_s + probes × interval_s. It does not use TCP_USER_TIMEOUT for sent data, because
// that also counts the time that a reader stands still. It would cut off a stopped recorder with all that is kept for
// it.
constexpr int idle_s = 5;
constexpr int interval_s = 2;
constexpr int probes = 3;
constexpr std::uint8_t silent_tries = 6;  // with doubled pauses from 0.2 s: about 12 s

constexpr std::uint32_t heard_within_ms = 1000;

// With its headers a packet fits into IPv6's least MTU, 1280. Its own value, so that the other end knows it.
constexpr int small_segment = 1200;
constexpr int timestamp_bytes = 12;  // of the TCP option
constexpr std::uint8_t lost_tries = 2;

void set_option(int fd, int level, int name, int value) noexcept {
  ::setsockopt(fd, level, name, &value, sizeof value);
}

[[nodiscard]] error failed(const char* what) {
  const bool fds = errno == EMFILE || errno == ENFILE;
  const bool permission = errno == EACCES || errno == EPERM;
  return {fds          ? errc::no_descriptors
          : permission ? errc::no_permission
                       : errc::system_error,
          std::string(what) + ": " + std::strerror(errno)};
}

[[nodiscard]] error unreachable(std::string why) { return {errc::refused, std::move(why)}; }

[[nodiscard]] expected<unique_fd> connected(unique_fd fd, const socket_address& to) {
  if (!fd) return failed("cannot open a socket");
  if (::connect(fd.get(), to.get(), to.size()) != 0 && errno != EINPROGRESS && errno != EINTR)
    return unreachable(why_unreachable(errno));
  return fd;
}

}  // namespace

expected<unique_fd> connect_to_host(const std::string& address) {
  if (!address.starts_with(tcp_scheme)) return unreachable("not an address of this kind");
  const auto there = numbers_in(address);
  if (!there || there->port == 0)
    return unreachable("no address and port in " + escaped(address.substr(tcp_scheme.size())));
  const socket_address to(*there);
  auto made = connected(unique_fd(::socket(to.family(), stream_type, 0)), to);
  if (made) prepare_stream(made->get(), wire::transport::tcp);
  return made;
}

namespace {

// Port 0: any free one. False and errno when it fails.
[[nodiscard]] unique_fd listen_at(bool all_interfaces, std::uint16_t& port) {
  // IPv4's loopback suffices for this host, whatever its broker's family is: each Linux has it.
  ip_port at{ip_address::loopback_v4(), port};
  unique_fd fd(all_interfaces ? listen_tcp_everywhere(at, backlog) : listen_tcp(at, backlog));
  if (fd) port = at.port;
  return fd;
}

}  // namespace

expected<unique_fd> listen_on_port(bool all_interfaces, std::uint16_t& port, const port_range& among) {
  unique_fd listening;
  const bool tried = try_ports(among, wire::id::random().lo, [&](std::uint16_t each) {
    port = each;
    listening = listen_at(all_interfaces, port);
    return listening || errno != EADDRINUSE;
  });
  if (listening) return listening;
  if (!tried && !among.any()) return error(errc::system_error, among.all_taken("ss -ltnp"));
  return failed("cannot listen on a tcp port");
}

void prepare_stream(int fd, wire::transport kind) noexcept {
  if (kind != wire::transport::tcp) return;
  set_option(fd, IPPROTO_TCP, TCP_NODELAY, 1);
  set_option(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
  set_option(fd, IPPROTO_TCP, TCP_KEEPIDLE, idle_s);
  set_option(fd, IPPROTO_TCP, TCP_KEEPINTVL, interval_s);
  set_option(fd, IPPROTO_TCP, TCP_KEEPCNT, probes);
}

void keep_small_packets_moving(int fd) noexcept {
  constexpr std::string_view control = "reno";  // each Linux has it, and lets anybody choose it
  ::setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, control.data(), control.size());
}

peer_id peer_of(int fd, wire::transport kind) noexcept {
  peer_id peer;
  if (kind == wire::transport::ipc) {
    ucred process{};
    socklen_t size = sizeof process;
    if (::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &process, &size) == 0)
      peer.bits[0] = static_cast<std::uint64_t>(process.pid);
    return peer;
  }
  socket_address address;
  if (::getpeername(fd, address.get(), address.room()) != 0) return peer;
  const auto there = address.value();
  if (!there) return peer;
  const auto host = there->address.is_loopback() ? ip_address::loopback_v4() : there->address;
  std::memcpy(peer.bits.data(), host.bytes.data(), sizeof peer.bits);
  if (!host.is_v4()) peer.bits[1] = 0;  // a host has all addresses of its /64
  return peer;
}

bool peer_is_silent(int fd, wire::transport kind) noexcept {
  if (kind != wire::transport::tcp) return false;
  tcp_info info{};
  socklen_t size = sizeof info;
  if (::getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) != 0) return false;
  return info.tcpi_retransmits >= silent_tries || info.tcpi_probes >= silent_tries;
}

// One acknowledgement proves nothing: the path may have returned just now. The next try shows it.
bool loses_large_packets(int fd, wire::transport kind, std::uint8_t& tries) noexcept {
  tcp_info info{};
  socklen_t size = sizeof info;
  if (kind != wire::transport::tcp || ::getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) != 0) return false;
  // Data without news in it, such as a PING, does not count as an acknowledgement.
  const auto heard_ms = std::min(info.tcpi_last_ack_recv, info.tcpi_last_data_recv);
  if (info.tcpi_retransmits < lost_tries) tries = 0;
  if (info.tcpi_retransmits < lost_tries || info.tcpi_snd_mss <= small_segment ||
      info.tcpi_last_data_sent <= heard_ms + info.tcpi_rtt / 1000 + 1)
    return false;
  if (tries != 0) return info.tcpi_retransmits > tries;
  tries = info.tcpi_retransmits;
  set_option(fd, IPPROTO_IP, IP_MTU_DISCOVER, IP_PMTUDISC_DONT);
  return false;
}

void send_small_packets(int listener, bool small) noexcept {
  set_option(listener, IPPROTO_TCP, TCP_MAXSEG, small ? small_segment : 0);
}

void reset_at_close(int fd) noexcept {
  const linger at_once{.l_onoff = 1, .l_linger = 0};
  ::setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
}

std::string small_packets_remark(int fd, wire::transport kind) {
  tcp_info info{};
  socklen_t size = sizeof info;
  if (kind != wire::transport::tcp || ::getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) != 0) return {};
  const int options = (info.tcpi_options & TCPI_OPT_TIMESTAMPS) != 0 ? timestamp_bytes : 0;
  if (static_cast<int>(info.tcpi_snd_mss) + options != small_segment) return {};
  return "the publisher sends small packets, because larger ones were lost on the way";
}

path_state path_of(int fd, wire::transport kind) noexcept {
  tcp_info info{};
  socklen_t size = sizeof info;
  int unacknowledged = 0;
  if (kind != wire::transport::tcp || ::getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) != 0 ||
      ::ioctl(fd, SIOCOUTQ, &unacknowledged) != 0)
    return path_state::heard;
  if (unacknowledged != 0) return path_state::waiting;
  return info.tcpi_last_data_recv < heard_within_ms ? path_state::heard : path_state::quiet;
}

void set_kernel_queue(int fd, wire::transport kind, std::size_t bytes) noexcept {
  if (kind == wire::transport::tcp)
    set_option(fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT, static_cast<int>(std::min(bytes, max_unsent_in_kernel)));
  else if (bytes >= large_sample)  // as much as the system allows, because each refill costs a wake-up
    set_option(fd, SOL_SOCKET, SO_SNDBUF, INT_MAX / 2);
}

}  // namespace orc::detail
