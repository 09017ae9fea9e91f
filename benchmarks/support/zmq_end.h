// One end of a ping-pong on bare libzmq, the baseline of ORC: PUB and SUB, default options, blocking zmq_msg_recv, and
// the same bytes on the wire: a 16-byte header (sequence, stamp) in front of a payload that is copied once per send.
#pragma once

#include <zmq.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>

#include "tools/support/clock.h"
#include "tools/support/ping_pong.h"
#include "wire/sample_header.h"

namespace orc::bench {

class zmq_context {
 public:
  zmq_context() : context_(::zmq_ctx_new()) {}
  ~zmq_context() { ::zmq_ctx_term(context_); }
  zmq_context(const zmq_context&) = delete;
  zmq_context& operator=(const zmq_context&) = delete;
  [[nodiscard]] void* get() const noexcept { return context_; }
  void allow_sockets(int count) noexcept { ::zmq_ctx_set(context_, ZMQ_MAX_SOCKETS, count); }
  // Every call on its sockets fails with ETERM from now on.
  void shut_down() const noexcept { ::zmq_ctx_shutdown(context_); }

 private:
  void* context_;
};

class zmq_socket {
 public:
  zmq_socket(const zmq_context& context, int type) : socket_(::zmq_socket(context.get(), type)) {
    set(ZMQ_LINGER, 0);
    if (type == ZMQ_SUB) ::zmq_setsockopt(socket_, ZMQ_SUBSCRIBE, "", 0);
  }
  ~zmq_socket() {
    if (socket_ != nullptr) ::zmq_close(socket_);
  }
  zmq_socket(zmq_socket&& other) noexcept : socket_(std::exchange(other.socket_, nullptr)) {}
  zmq_socket& operator=(zmq_socket&&) = delete;
  [[nodiscard]] void* get() const noexcept { return socket_; }
  bool set(int option, int value) noexcept { return ::zmq_setsockopt(socket_, option, &value, sizeof value) == 0; }
  bool bind(const std::string& endpoint) noexcept { return ::zmq_bind(socket_, endpoint.c_str()) == 0; }
  bool connect(const std::string& endpoint) noexcept { return ::zmq_connect(socket_, endpoint.c_str()) == 0; }
  // Where it is bound: tcp endpoints with the port that the system chose.
  [[nodiscard]] std::string endpoint() const {
    char text[256] = {};
    std::size_t size = sizeof text;
    return ::zmq_getsockopt(socket_, ZMQ_LAST_ENDPOINT, text, &size) == 0 ? text : "";
  }

 private:
  void* socket_;
};

// A received frame: header and payload.
class zmq_message {
 public:
  zmq_message() noexcept { ::zmq_msg_init(&message_); }
  ~zmq_message() { ::zmq_msg_close(&message_); }
  zmq_message(zmq_message&& other) noexcept : zmq_message() { *this = std::move(other); }
  zmq_message& operator=(zmq_message&& other) noexcept {
    if (this != &other) {
      ::zmq_msg_move(&message_, &other.message_);
      received_ = std::exchange(other.received_, false);
    }
    return *this;
  }

  bool receive(void* socket, int flags = 0) noexcept {
    int size = 0;
    do {
      size = ::zmq_msg_recv(&message_, socket, flags);
    } while (size < 0 && errno == EINTR);
    received_ = size >= static_cast<int>(wire::sample_header::bytes);
    return received_;
  }
  explicit operator bool() const noexcept { return received_; }
  [[nodiscard]] const std::byte* data() const noexcept { return bytes() + wire::sample_header::bytes; }
  [[nodiscard]] std::size_t size() const noexcept { return ::zmq_msg_size(&message_) - wire::sample_header::bytes; }
  [[nodiscard]] wire::sample_header header() const noexcept { return wire::get(bytes()); }
  [[nodiscard]] zmq_msg_t* get() noexcept { return &message_; }

 private:
  [[nodiscard]] std::byte* bytes() const noexcept { return static_cast<std::byte*>(::zmq_msg_data(&message_)); }
  mutable zmq_msg_t message_;
  bool received_ = false;
};

// Sends header and payload as ORC does: one frame, one copy. False when it could not be queued at once.
inline bool send_sample(const zmq_socket& socket, std::uint64_t sequence, const std::byte* data, std::size_t size) {
  zmq_msg_t message;
  if (::zmq_msg_init_size(&message, wire::sample_header::bytes + size) != 0) return false;
  auto* at = static_cast<std::byte*>(::zmq_msg_data(&message));
  wire::put({sequence, clock_ns(CLOCK_REALTIME)}, at);
  if (size > 0) std::memcpy(at + wire::sample_header::bytes, data, size);
  if (::zmq_msg_send(&message, socket.get(), ZMQ_DONTWAIT) >= 0) return true;
  ::zmq_msg_close(&message);
  return false;
}

class zmq_end {
 public:
  explicit zmq_end(const zmq_context& context) : out_(context, ZMQ_PUB), in_(context, ZMQ_SUB) {}

  bool bind(const std::string& endpoint) noexcept { return out_.bind(endpoint); }
  bool connect(const std::string& endpoint) noexcept { return in_.connect(endpoint); }
  [[nodiscard]] std::string endpoint() const { return out_.endpoint(); }

  bool send(const std::byte* data, std::size_t size) noexcept { return send_sample(out_, ++sequence_, data, size); }
  bool send_loaned(const std::byte* mark, std::size_t marked, std::size_t size) noexcept {
    zmq_msg_t message;
    if (::zmq_msg_init_size(&message, wire::sample_header::bytes + size) != 0) return false;
    auto* at = static_cast<std::byte*>(::zmq_msg_data(&message));
    wire::put({++sequence_, clock_ns(CLOCK_REALTIME)}, at);
    std::memcpy(at + wire::sample_header::bytes, mark, marked);
    return ::zmq_msg_send(&message, out_.get(), ZMQ_DONTWAIT) >= 0;
  }
  bool forward(zmq_message&& received) noexcept { return ::zmq_msg_send(received.get(), out_.get(), 0) >= 0; }
  zmq_message receive(wait_mode wait) noexcept {
    zmq_message message;
    if (wait == wait_mode::block) {
      message.receive(in_.get());
    } else {
      while (!message.receive(in_.get(), ZMQ_DONTWAIT) && errno == EAGAIN) {
      }
    }
    return message;
  }

  // PUB drops what is sent before the subscription arrived: sends until the echo of one comes back, and takes all
  // echoes out. The other end is in echo().
  bool meet(int within_ms) {
    const std::byte probe{0};
    const std::int64_t deadline = now_ns() + within_ms * std::int64_t{1'000'000};
    std::size_t sent = 0;
    zmq_pollitem_t readable{in_.get(), 0, ZMQ_POLLIN, 0};
    do {
      if (now_ns() > deadline || !send(&probe, 1)) return false;
      ++sent;
    } while (::zmq_poll(&readable, 1, 10) <= 0);
    while (::zmq_poll(&readable, 1, 100) > 0) receive(wait_mode::block);
    return sent > 0;
  }

 private:
  zmq_socket out_;
  zmq_socket in_;
  std::uint64_t sequence_ = 0;
};

}  // namespace orc::bench
