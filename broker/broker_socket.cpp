#include "broker_socket.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>

#include "wire/control.h"
#include "wire/fd_limit.h"

namespace orc {
namespace {

constexpr std::string_view ipc_scheme = "ipc://";
constexpr std::string_view tcp_scheme = "tcp://";
constexpr std::size_t fds_of_broker = 32;  // context, io thread, sockets and the first connections

// Bounds what one connection can make the broker keep.
constexpr int receive_queue = 256;
constexpr int send_queue = 10'000;  // events in a burst: a participant may have requested thousands of topics

bool loopback(std::string_view endpoint) {
  for (const std::string_view prefix : {"tcp://127.", "tcp://[::1]", "tcp://[::ffff:127.", "tcp://localhost:"}) {
    if (endpoint.starts_with(prefix)) return true;
  }
  return false;
}

std::string cannot(const std::string& endpoint, const std::string& why) {
  return "cannot listen at " + endpoint + ": " + why;
}

// libzmq takes tcp://…:99999 and listens at another port.
bool has_port(std::string_view endpoint) {
  const auto text = endpoint.substr(endpoint.rfind(':') + 1);
  if (text == "*") return true;
  std::uint16_t port = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), port);
  return problem == std::errc() && end == text.data() + text.size() && port != 0;
}

std::string tcp_advice(int error) {
  switch (error) {
    case EADDRINUSE:
      return "another program (another orc-broker?) listens there: stop it, or choose another port with --listen";
    case EADDRNOTAVAIL:
    case ENODEV: return "this host has no such address: choose one that `ip address` shows, or * for all";
    case EACCES: return "permission denied: choose a port from 1024 on";
    case EINVAL: return "not an address: write it as tcp://ADDRESS:PORT";
    default: return zmq_strerror(error);
  }
}

}  // namespace

broker_socket::broker_socket() : context_(1), socket_(context_, zmq::socket_type::router) { set_options(); }

broker_socket::~broker_socket() {
  socket_.close();
  context_.close();  // ends at once: linger is bounded
}

void broker_socket::set_options() {
  socket_.set(zmq::sockopt::maxmsgsize, static_cast<std::int64_t>(wire::max_control_bytes));
  socket_.set(zmq::sockopt::router_mandatory, true);  // a send to a closed connection fails instead of vanishing
  socket_.set(zmq::sockopt::sndhwm, send_queue);
  socket_.set(zmq::sockopt::rcvhwm, receive_queue);
  socket_.set(zmq::sockopt::linger, 50);
  socket_.set(zmq::sockopt::handshake_ivl, 3'000);  // who connects and says nothing is put out
  socket_.set(zmq::sockopt::heartbeat_ivl, 2'000);
  socket_.set(zmq::sockopt::heartbeat_timeout, 6'000);
  socket_.set(zmq::sockopt::tcp_keepalive, 1);
  socket_.set(zmq::sockopt::tcp_keepalive_idle, 10);
  socket_.set(zmq::sockopt::tcp_keepalive_intvl, 5);
  socket_.set(zmq::sockopt::tcp_keepalive_cnt, 3);
}

std::variant<std::unique_ptr<broker_socket>, std::string> broker_socket::open(const std::vector<std::string>& listen) {
  if (listen.empty()) return "no endpoint to listen at: give one with --listen";
  // Running out of files in the middle would abort the process inside libzmq.
  if (!detail::room_for_fds(fds_of_broker + listen.size())) {
    return "too few open files are allowed (RLIMIT_NOFILE) to serve: raise the limit with ulimit -n";
  }
  try {
    std::unique_ptr<broker_socket> made(new broker_socket());
    for (const auto& endpoint : listen) {
      if (auto wrong = made->bind(endpoint); !wrong.empty()) return cannot(endpoint, wrong);
    }
    return made;
  } catch (const zmq::error_t& error) {
    return std::string("cannot make the broker's socket: ") + error.what();
  }
}

std::string broker_socket::bind(const std::string& endpoint) {
  const bool ipc = endpoint.starts_with(ipc_scheme);
  if (!ipc && !endpoint.starts_with(tcp_scheme)) return "neither ipc://PATH nor tcp://ADDRESS:PORT";
  if (ipc) {
    auto guard = ipc_guard::take(endpoint.substr(ipc_scheme.size()));
    if (auto* wrong = std::get_if<std::string>(&guard)) return *wrong;
    guards_.push_back(std::move(std::get<ipc_guard>(guard)));
  } else {
    if (!has_port(endpoint)) return "no port from 1 to 65535, or * for any: write it as tcp://ADDRESS:PORT";
    socket_.set(zmq::sockopt::ipv6, endpoint.find('[') != std::string::npos);
  }
  if (zmq_bind(socket_.handle(), endpoint.c_str()) != 0) {
    const int error = zmq_errno();
    return ipc ? std::string(zmq_strerror(error)) + ": choose another path with --listen" : tcp_advice(error);
  }
  endpoints_.push_back(socket_.get(zmq::sockopt::last_endpoint));
  return ipc ? guards_.back().set_mode() : std::string();
}

bool broker_socket::remote() const noexcept {
  return std::any_of(endpoints_.begin(), endpoints_.end(), [](const std::string& endpoint) {
    return endpoint.starts_with(tcp_scheme) && !loopback(endpoint);
  });
}

broker_socket::received broker_socket::receive(std::string& from, zmq::message_t& frame) noexcept {
  zmq::message_t peer;
  if (zmq_msg_recv(peer.handle(), socket_.handle(), ZMQ_DONTWAIT) < 0) return received::nothing;
  if (!peer.more()) return received::dropped;
  // The parts of a message arrive together, so these do not fail for want of data.
  if (zmq_msg_recv(frame.handle(), socket_.handle(), ZMQ_DONTWAIT) < 0) return received::dropped;
  if (!frame.more()) {
    from.assign(static_cast<const char*>(peer.data()), peer.size());
    return received::frame;
  }
  while (frame.more() && zmq_msg_recv(frame.handle(), socket_.handle(), ZMQ_DONTWAIT) >= 0) {
  }
  return received::dropped;
}

broker_socket::sent broker_socket::send(const std::string& to, const std::string& frame) noexcept {
  if (zmq_send(socket_.handle(), to.data(), to.size(), ZMQ_SNDMORE | ZMQ_DONTWAIT) < 0) {
    return zmq_errno() == EHOSTUNREACH ? sent::gone : sent::slow;
  }
  return zmq_send(socket_.handle(), frame.data(), frame.size(), ZMQ_DONTWAIT) < 0 ? sent::gone : sent::yes;
}

}  // namespace orc
