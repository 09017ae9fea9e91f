#include "core/broker_search.h"

#include <unistd.h>

#include "wire/fd_limit.h"
#include "wire/run_dir.h"

namespace orc::detail {

namespace {

constexpr std::string_view ipc_scheme = "ipc://";

[[nodiscard]] bool nothing_there(const std::string& endpoint) {
  return endpoint.starts_with(ipc_scheme) && ::access(endpoint.c_str() + ipc_scheme.size(), F_OK) != 0;
}

}  // namespace

broker_search::broker_search(void* context, const std::string& endpoint)
    : context_(context), places_(endpoint.empty() ? broker_candidates() : std::vector<std::string>{endpoint}) {}

void broker_search::step(monotonic::time_point now) {
  if (now < until_) return;
  until_ = now + patience;
  if (places_.size() == 1 && socket_) return;  // libzmq keeps trying by itself
  for (std::size_t tried = 0; tried < places_.size(); ++tried) {
    const std::string& place = places_[next_];
    next_ = (next_ + 1) % places_.size();
    if (places_.size() > 1 && nothing_there(place)) continue;
    connect(place);
    return;
  }
}

void broker_search::connect(const std::string& endpoint) {
  socket_ = {};
  endpoint_ = endpoint;
  problem_.clear();
  if (!room_for_fds(16)) {
    problem_ = "out of file descriptors: raise the limit (ulimit -n)";
    return;
  }
  zmq_socket socket(context_, ZMQ_DEALER);
  if (!socket) return;
  socket.set(ZMQ_PROBE_ROUTER, 1);  // each new connection makes the broker say who it is
  socket.set(ZMQ_IMMEDIATE, 1);
  socket.set(ZMQ_LINGER, 200);
  socket.set(ZMQ_RECONNECT_IVL, 20);
  socket.set(ZMQ_RECONNECT_IVL_MAX, 200);
  socket.set(ZMQ_HEARTBEAT_IVL, 1000);
  socket.set(ZMQ_HEARTBEAT_TIMEOUT, 3000);
  socket.set(ZMQ_IPV6, 1);
  socket.set64(ZMQ_MAXMSGSIZE, 64 * 1024);
  if (zmq_connect(socket.get(), endpoint.c_str()) != 0) {
    problem_ = std::string("cannot connect to ") + endpoint + ": " + zmq_strerror(errno);
    return;
  }
  socket_ = std::move(socket);
}

void broker_search::restart() noexcept {
  if (places_.size() > 1) socket_ = {};
  next_ = 0;
  until_ = {};
}

std::string broker_search::places() const {
  std::string all;
  for (const auto& place : places_) all += (all.empty() ? "" : ", ") + place;
  return all;
}

}  // namespace orc::detail
