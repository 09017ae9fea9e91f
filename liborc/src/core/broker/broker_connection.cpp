#include "core/broker/broker_connection.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "base/files/fd_limit.h"
#include "wire/control.h"

namespace orc::detail {

namespace {

// An attempt is given up early, because TCP repeats what was lost at intervals that grow with the outage. A network
// with a longer round trip gets some of them.
constexpr int connect_within_ms = 750;
constexpr int acknowledged_within_ms = 1500;
constexpr int introduced_within_ms = 3000;  // time to connect to a broker to which thousands return
constexpr int heartbeat_within_ms = 3000;

}  // namespace

void broker_connection::open(zmq::context_t& context, const std::string& endpoint,
                             std::chrono::milliseconds round_trip) {
  socket_.close();
  endpoint_ = endpoint;
  problem_.clear();
  // libzmq ends the process when it runs out of descriptors.
  if (!room_for_fds(16)) {
    problem_ = "out of file descriptors: raise the limit (ulimit -n)";
    return;
  }
  const auto trip = static_cast<int>(round_trip.count());
  try {
    zmq::socket_t socket(context, zmq::socket_type::dealer);
    socket.set(zmq::sockopt::probe_router, true);  // each new connection makes the broker say which run it is
    socket.set(zmq::sockopt::immediate, true);
    socket.set(zmq::sockopt::linger, 200);
    socket.set(zmq::sockopt::reconnect_ivl, 20);
    socket.set(zmq::sockopt::reconnect_ivl_max, 200);
    socket.set(zmq::sockopt::connect_timeout, std::max(connect_within_ms, 2 * trip));
    socket.set(zmq::sockopt::tcp_maxrt, std::max(acknowledged_within_ms, 3 * trip));
    socket.set(zmq::sockopt::handshake_ivl, std::max(introduced_within_ms, 5 * trip));
    socket.set(zmq::sockopt::heartbeat_ivl, 1000);
    socket.set(zmq::sockopt::heartbeat_timeout, std::max(heartbeat_within_ms, 3 * trip));
    socket.set(zmq::sockopt::ipv6, true);
    socket.set(zmq::sockopt::maxmsgsize, static_cast<std::int64_t>(wire::max_control_bytes));
    socket.connect(endpoint);
    socket_ = std::move(socket);
  } catch (const zmq::error_t& failed) {
    problem_ = std::string("cannot connect to ") + endpoint + ": " + failed.what();
  }
}

int broker_connection::fd() noexcept try {
  return socket_ ? socket_.get(zmq::sockopt::fd) : -1;
} catch (const zmq::error_t&) {
  return -1;
}

bool broker_connection::try_recv(zmq::message_t& frame) noexcept try {
  while (socket_ && socket_.recv(frame, zmq::recv_flags::dontwait)) {
    if (!frame.more()) return true;
    while (frame.more() && socket_.recv(frame, zmq::recv_flags::dontwait)) {
    }
  }
  return false;
} catch (const zmq::error_t&) {
  return false;  // interrupted, or the context ends
}

bool broker_connection::try_send(const std::string& frame) noexcept try {
  return socket_ && socket_.send(zmq::buffer(frame), zmq::send_flags::dontwait).has_value();
} catch (const zmq::error_t&) {
  return false;
}

bool broker_connection::is_connected() noexcept try {
  return socket_ && (socket_.get(zmq::sockopt::events) & ZMQ_POLLOUT) != 0;
} catch (const zmq::error_t&) {
  return false;
}

bool broker_connection::wait_readable(int timeout_ms) noexcept try {
  zmq::pollitem_t item{socket_.handle(), 0, ZMQ_POLLIN, 0};
  return zmq::poll(&item, 1, std::chrono::milliseconds(timeout_ms)) > 0;
} catch (const zmq::error_t&) {
  return false;
}

}  // namespace orc::detail
