// What the connections of a server share. Includes Boost: only for the files that implement web_server.
#pragma once

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <set>
#include <string>
#include <vector>

#include "base/network/ip_address.h"
#include "tools/web/session/client_session.h"

namespace orc::web {

class http_connection;
class websocket_connection;

inline constexpr std::size_t max_clients = 64;
inline constexpr std::size_t max_sockets = 256;  // also of those that load the page
inline constexpr std::chrono::seconds handshake_patience{5};

struct server_context {
  std::vector<session_maker*> protocols = {};
  std::set<websocket_connection*> clients = {};
  std::size_t sockets = 0;
  std::list<http_connection*> idle = {};  // wait for a request; the oldest first
  std::string host_name = {};
  // Looks at the sessions at this time, at the latest.
  std::function<void(clock::time_point)> look_at = {};
  // Destroyed first: with it go the connections, which use the rest.
  boost::asio::io_context io{1};
};

// Counts a socket while it lives.
class counted_socket {
 public:
  explicit counted_socket(server_context& of) : of_(of) { ++of_.sockets; }
  ~counted_socket() { --of_.sockets; }
  counted_socket(const counted_socket&) = delete;
  counted_socket& operator=(const counted_socket&) = delete;

 private:
  server_context& of_;
};

// The address that a connection came in at.
[[nodiscard]] inline detail::ip_port local_address(const boost::asio::ip::tcp::socket& socket) {
  boost::system::error_code failed;
  const auto at = socket.local_endpoint(failed);
  if (failed) return {};
  return detail::ip_port::of(*at.data()).value_or(detail::ip_port{});
}

// The host at the other end. It may take any address of its /64 over IPv6; all loopback addresses are this host.
[[nodiscard]] inline detail::ip_address remote_host(const boost::asio::ip::tcp::socket& socket) {
  boost::system::error_code failed;
  const auto at = socket.remote_endpoint(failed);
  if (failed) return {};
  auto host = detail::ip_port::of(*at.data()).value_or(detail::ip_port{}).address;
  if (host.is_loopback()) return detail::ip_address::loopback_v4();
  if (!host.is_v4()) std::fill(host.bytes.begin() + 8, host.bytes.end(), std::uint8_t{0});
  return host;
}

}  // namespace orc::web
