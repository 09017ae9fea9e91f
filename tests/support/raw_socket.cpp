#include "support/raw_socket.h"

#include <zmq.h>

#include <stdexcept>

namespace orc::test {

namespace {

void check(bool ok, const std::string& what) {
  if (!ok) throw std::runtime_error(what + ": " + zmq_strerror(zmq_errno()));
}

}  // namespace

raw_socket::raw_socket(int type) : context_(zmq_ctx_new()), socket_(zmq_socket(context_, type)) {
  check(socket_ != nullptr, "zmq_socket");
  set(ZMQ_LINGER, 0);
}

raw_socket::~raw_socket() {
  zmq_close(socket_);
  zmq_ctx_term(context_);
}

void raw_socket::set(int option, int value) {
  check(zmq_setsockopt(socket_, option, &value, sizeof value) == 0, "zmq_setsockopt");
}

void raw_socket::bind(const std::string& endpoint) {
  check(zmq_bind(socket_, endpoint.c_str()) == 0, "zmq_bind " + endpoint);
}

void raw_socket::connect(const std::string& endpoint) {
  check(zmq_connect(socket_, endpoint.c_str()) == 0, "zmq_connect " + endpoint);
}

std::string raw_socket::bound_to() const {
  char text[256] = "";
  std::size_t size = sizeof text;
  check(zmq_getsockopt(socket_, ZMQ_LAST_ENDPOINT, text, &size) == 0, "ZMQ_LAST_ENDPOINT");
  return text;
}

bool raw_socket::send(const frames& parts) {
  for (std::size_t n = 0; n < parts.size(); ++n) {
    const int more = n + 1 < parts.size() ? ZMQ_SNDMORE : 0;
    if (zmq_send(socket_, parts[n].data(), parts[n].size(), ZMQ_DONTWAIT | more) < 0) return false;
  }
  return true;
}

std::optional<raw_socket::frames> raw_socket::receive(std::chrono::milliseconds deadline) {
  zmq_pollitem_t item{socket_, 0, ZMQ_POLLIN, 0};
  if (zmq_poll(&item, 1, static_cast<long>(deadline.count())) <= 0) return std::nullopt;
  frames parts;
  int more = 1;
  while (more != 0) {
    zmq_msg_t message;
    zmq_msg_init(&message);
    const bool received = zmq_msg_recv(&message, socket_, ZMQ_DONTWAIT) >= 0;
    if (received) parts.emplace_back(static_cast<const char*>(zmq_msg_data(&message)), zmq_msg_size(&message));
    more = received ? zmq_msg_more(&message) : 0;
    zmq_msg_close(&message);
    if (!received) return std::nullopt;
  }
  return parts;
}

}  // namespace orc::test
