#include "core/broker_search.h"

#include <unistd.h>

#include "wire/broker_trust.h"
#include "wire/control.h"
#include "wire/fd_limit.h"
#include "wire/run_dir.h"

namespace orc::detail {

namespace {

constexpr std::string_view ipc_scheme = "ipc://";

// A network that takes longer than this for an answer is none to run a broker over.
constexpr int connect_within_ms = 750;
constexpr int acknowledged_within_ms = 1500;
constexpr int introduced_within_ms = 3000;  // of a broker that thousands come back to

[[nodiscard]] bool nothing_there(const std::string& endpoint) {
  return endpoint.starts_with(ipc_scheme) && ::access(endpoint.c_str() + ipc_scheme.size(), F_OK) != 0;
}

}  // namespace

broker_search::broker_search(zmq::context_t& context, const std::string& endpoint)
    : context_(context), named_(broker_is_named(endpoint)) {
  for (const auto& each : broker_candidates(endpoint)) places_.push_back({each, {}});
}

void broker_search::step(monotonic::time_point now) {
  if (now < until_) return;
  until_ = now + patience;
  if (places_.size() == 1 && socket_) return;  // libzmq keeps trying by itself
  for (std::size_t tried = 0; tried < places_.size(); ++tried) {
    place& which = places_[next_];
    next_ = (next_ + 1) % places_.size();
    if (leave_out(which)) continue;
    connect(which.endpoint);
    return;
  }
}

bool broker_search::leave_out(place& which) const {
  if (named_) return false;
  which.distrusted = why_distrusted(which.endpoint);
  return !which.distrusted.empty() || nothing_there(which.endpoint);
}

void broker_search::connect(const std::string& endpoint) {
  socket_.close();
  endpoint_ = endpoint;
  problem_.clear();
  // libzmq ends the process when it runs out of them.
  if (!room_for_fds(16)) {
    problem_ = "out of file descriptors: raise the limit (ulimit -n)";
    return;
  }
  try {
    zmq::socket_t socket(context_, zmq::socket_type::dealer);
    socket.set(zmq::sockopt::probe_router, true);  // each new connection makes the broker say who it is
    socket.set(zmq::sockopt::immediate, true);
    socket.set(zmq::sockopt::linger, 200);
    socket.set(zmq::sockopt::reconnect_ivl, 20);
    socket.set(zmq::sockopt::reconnect_ivl_max, 200);
    // Without them TCP would repeat what was lost at intervals that grow with the outage.
    socket.set(zmq::sockopt::connect_timeout, connect_within_ms);
    socket.set(zmq::sockopt::tcp_maxrt, acknowledged_within_ms);
    socket.set(zmq::sockopt::handshake_ivl, introduced_within_ms);
    socket.set(zmq::sockopt::heartbeat_ivl, 1000);
    socket.set(zmq::sockopt::heartbeat_timeout, 3000);
    socket.set(zmq::sockopt::ipv6, true);
    socket.set(zmq::sockopt::maxmsgsize, static_cast<std::int64_t>(wire::max_control_bytes));
    socket.connect(endpoint);
    socket_ = std::move(socket);
  } catch (const zmq::error_t& failed) {
    problem_ = std::string("cannot connect to ") + endpoint + ": " + failed.what();
  }
}

void broker_search::reconnect(monotonic::time_point now) {
  if (!socket_) return;
  stay(now + patience);
  connect(std::string(endpoint_));
}

void broker_search::restart() noexcept {
  if (places_.size() > 1) socket_.close();
  next_ = 0;
  until_ = {};
}

int broker_search::fd() noexcept try {
  return socket_ ? socket_.get(zmq::sockopt::fd) : -1;
} catch (const zmq::error_t&) {
  return -1;
}

bool broker_search::try_recv(zmq::message_t& frame) noexcept try {
  while (socket_ && socket_.recv(frame, zmq::recv_flags::dontwait)) {
    if (!frame.more()) return true;
    while (frame.more() && socket_.recv(frame, zmq::recv_flags::dontwait)) {
    }
  }
  return false;
} catch (const zmq::error_t&) {
  return false;  // interrupted, or the context goes down
}

bool broker_search::try_send(const std::string& frame) noexcept try {
  return socket_ && socket_.send(zmq::buffer(frame), zmq::send_flags::dontwait).has_value();
} catch (const zmq::error_t&) {
  return false;
}

bool broker_search::is_connected() noexcept try {
  return socket_ && (socket_.get(zmq::sockopt::events) & ZMQ_POLLOUT) != 0;
} catch (const zmq::error_t&) {
  return false;
}

bool broker_search::wait_readable(int timeout_ms) noexcept try {
  zmq::pollitem_t item{socket_.handle(), 0, ZMQ_POLLIN, 0};
  return zmq::poll(&item, 1, std::chrono::milliseconds(timeout_ms)) > 0;
} catch (const zmq::error_t&) {
  return false;
}

std::string broker_search::places() const {
  std::string all;
  for (const auto& each : places_) {
    if (!all.empty()) all += ", ";
    all += each.endpoint;
    if (!each.distrusted.empty()) all += " (" + each.distrusted + ": ignored)";
  }
  return all;
}

}  // namespace orc::detail
