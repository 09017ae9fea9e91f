// A libzmq socket with one owner. Options are set before bind or connect; errors come back as errno text.
// Used instead of cppzmq because nothing on the way of a sample may throw.
#pragma once

#include <zmq.h>

#include <cerrno>
#include <cstdint>
#include <string>
#include <utility>

namespace orc::detail {

class zmq_socket {
 public:
  zmq_socket() noexcept = default;
  // Null on failure (errno).
  zmq_socket(void* context, int type) noexcept : socket_(zmq_socket_of(context, type)) {}
  zmq_socket(zmq_socket&& other) noexcept : socket_(std::exchange(other.socket_, nullptr)) {}
  zmq_socket& operator=(zmq_socket&& other) noexcept {
    if (this != &other) {
      close();
      socket_ = std::exchange(other.socket_, nullptr);
    }
    return *this;
  }
  ~zmq_socket() { close(); }

  explicit operator bool() const noexcept { return socket_ != nullptr; }
  [[nodiscard]] void* get() const noexcept { return socket_; }

  bool set(int option, int value) noexcept { return zmq_setsockopt(socket_, option, &value, sizeof value) == 0; }
  bool set64(int option, std::int64_t value) noexcept {
    return zmq_setsockopt(socket_, option, &value, sizeof value) == 0;
  }
  // ZMQ_FD: readable when there may be something to do; edge-triggered.
  [[nodiscard]] int fd() const noexcept { return get_int(ZMQ_FD); }
  // Executes pending commands of the I/O threads; returns ZMQ_POLLIN | ZMQ_POLLOUT.
  int events() const noexcept { return get_int(ZMQ_EVENTS); }
  [[nodiscard]] std::string last_endpoint() const {
    char text[256] = "";
    std::size_t size = sizeof text;
    zmq_getsockopt(socket_, ZMQ_LAST_ENDPOINT, text, &size);
    return text;
  }

 private:
  static void* zmq_socket_of(void* context, int type) noexcept { return ::zmq_socket(context, type); }
  [[nodiscard]] int get_int(int option) const noexcept {
    int value = -1;
    std::size_t size = sizeof value;
    zmq_getsockopt(socket_, option, &value, &size);
    return value;
  }
  void close() noexcept {
    if (socket_ != nullptr) zmq_close(socket_);
    socket_ = nullptr;
  }

  void* socket_ = nullptr;
};

// A received message with one owner.
class zmq_frame {
 public:
  zmq_frame() noexcept { zmq_msg_init(&message_); }
  ~zmq_frame() { zmq_msg_close(&message_); }
  zmq_frame(const zmq_frame&) = delete;
  zmq_frame& operator=(const zmq_frame&) = delete;

  [[nodiscard]] zmq_msg_t& get() noexcept { return message_; }
  [[nodiscard]] const std::byte* data() noexcept { return static_cast<const std::byte*>(zmq_msg_data(&message_)); }
  [[nodiscard]] std::size_t size() const noexcept { return zmq_msg_size(&message_); }
  [[nodiscard]] bool more() const noexcept { return zmq_msg_more(&message_) != 0; }
  // False: nothing there (or the context is going down).
  [[nodiscard]] bool try_recv(void* socket) noexcept {
    int received = 0;
    do received = zmq_msg_recv(&message_, socket, ZMQ_DONTWAIT);
    while (received < 0 && errno == EINTR);
    return received >= 0;
  }

 private:
  zmq_msg_t message_;
};

// Takes the remaining parts of a multi-part message out of the socket.
inline void drop_parts(void* socket, zmq_frame& last) noexcept {
  while (last.more() && last.try_recv(socket)) {
  }
}

}  // namespace orc::detail
