#include "core/broker/broker_search.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <utility>

#include "base/files/broker_trust.h"
#include "base/files/fd_limit.h"
#include "base/files/run_dir.h"
#include "base/network/endpoint_check.h"
#include "base/network/host_addresses.h"
#include "core/links/route.h"
#include "wire/control.h"

namespace orc::detail {

namespace {

constexpr std::string_view ipc_scheme = "ipc://";

// A network that takes longer than this for an answer is unfit for a broker.
constexpr int connect_within_ms = 750;
constexpr int acknowledged_within_ms = 1500;
constexpr int introduced_within_ms = 3000;  // time to connect to a broker to which thousands return

constexpr std::chrono::milliseconds until_looked_up{10};
constexpr std::chrono::seconds looked_up_again_after{1};
constexpr const char* no_such_host = "no such host";

[[nodiscard]] bool nothing_there(const std::string& endpoint) {
  if (endpoint.starts_with(ipc_scheme)) return ::access(endpoint.c_str() + ipc_scheme.size(), F_OK) != 0;
  const auto there = numbers_in(endpoint);
  if (!there) return false;
  const auto by = route_to(endpoint);
  if (!by || by->leaves_host) return !by;  // other hosts are not asked, because that may take long
  return connection_problem(*there, std::chrono::milliseconds(0)) == ECONNREFUSED;
}

}  // namespace

broker_search::broker_search(zmq::context_t& context, const std::string& endpoint)
    : context_(context), named_(broker_is_named(endpoint)) {
  for (const auto& each : broker_candidates(endpoint)) candidates_.push_back({each, {}});
  for (std::size_t i = 0; i < candidates_.size(); ++i) {
    if (!names_a_host(candidates_[i].endpoint)) addresses_.push_back({i, candidates_[i].endpoint});
  }
}

bool broker_search::step(monotonic::time_point now) {
  take_addresses();
  if (now < until_) return false;
  if (has_choice() && is_connected() && std::exchange(may_stay_, false)) {
    stay(now + max_patience);
    return false;
  }
  if (next_ == 0) look_up(now);
  until_ = now + (addresses_.empty() && names_.is_under_way() ? until_looked_up : patience);
  for (std::size_t tried = 0; tried < addresses_.size(); ++tried) {
    const address& which = addresses_[next_];
    next_ = (next_ + 1) % addresses_.size();
    const auto its_time = time_for_one_;
    if (next_ == 0) time_for_one_ = std::min(2 * time_for_one_, max_patience);
    if (leave_out(which)) continue;
    until_ = now + its_time;
    // It is the only one that may answer, and libzmq keeps trying by itself.
    if (!socket_ || which.endpoint != endpoint_) connect(which.endpoint);
    break;
  }
  return true;
}

// Looks names up anew in each round, because their addresses change.
void broker_search::look_up(monotonic::time_point now) {
  if (names_.is_under_way() || (asked_ != monotonic::time_point{} && now - asked_ < looked_up_again_after)) return;
  const auto is_name = [](const candidate& each) { return names_a_host(each.endpoint); };
  if (std::none_of(candidates_.begin(), candidates_.end(), is_name)) return;
  std::vector<std::string> all;
  for (const auto& each : candidates_) all.push_back(each.endpoint);
  asked_ = now;
  names_.ask(std::move(all));
}

void broker_search::take_addresses() {
  const auto found = names_.try_take();
  if (!found) return;
  std::vector<address> addresses;
  for (std::size_t i = 0; i < candidates_.size(); ++i) {
    for (const auto& each : (*found)[i]) addresses.push_back({i, each});
    candidates_[i].problem = (*found)[i].empty() ? no_such_host : std::string();
    if (!(*found)[i].empty()) continue;
    // A name server may be away for longer than the broker: keep the known addresses.
    std::copy_if(addresses_.begin(), addresses_.end(), std::back_inserter(addresses),
                 [i](const auto& each) { return each.candidate == i; });
  }
  if (addresses == addresses_) return;
  if (addresses_.empty()) until_ = {};
  addresses_ = std::move(addresses);
  next_ = 0;
}

bool broker_search::leave_out(const address& which) {
  auto& why = candidates_[which.candidate].problem;
  why = named_ ? std::string() : why_distrusted(which.endpoint);
  if (!why.empty()) why += ": ignored";
  return !why.empty() || (has_choice() && nothing_there(which.endpoint));
}

void broker_search::connect(const std::string& endpoint) {
  socket_.close();
  endpoint_ = endpoint;
  may_stay_ = true;
  problem_.clear();
  // libzmq ends the process when it runs out of descriptors.
  if (!room_for_fds(16)) {
    problem_ = "out of file descriptors: raise the limit (ulimit -n)";
    return;
  }
  try {
    zmq::socket_t socket(context_, zmq::socket_type::dealer);
    socket.set(zmq::sockopt::probe_router, true);  // each new connection makes the broker say which run it is
    socket.set(zmq::sockopt::immediate, true);
    socket.set(zmq::sockopt::linger, 200);
    socket.set(zmq::sockopt::reconnect_ivl, 20);
    socket.set(zmq::sockopt::reconnect_ivl_max, 200);
    // Without these TCP would retransmit at intervals that grow with the outage.
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
  if (has_choice()) socket_.close();
  next_ = 0;
  until_ = {};
  time_for_one_ = patience;
  asked_ = {};
  (void)names_.try_take();  // drops the result of an earlier search
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
  return false;  // interrupted, or the context ends
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

std::string broker_search::candidates(const std::vector<std::string>& findings) const {
  std::string all;
  for (std::size_t i = 0; i < candidates_.size(); ++i) {
    const candidate& each = candidates_[i];
    if (!all.empty()) all += ", ";
    all += each.endpoint;
    const std::string& found = i < findings.size() && !findings[i].empty() ? findings[i] : each.problem;
    if (!found.empty()) all += " (" + found + ")";
  }
  return all;
}

}  // namespace orc::detail
