// One connection to an endpoint of an address broker. libzmq makes it again whenever it is lost.
#pragma once

#include <chrono>
#include <cstddef>
#include <span>
#include <string>
#include <zmq.hpp>

namespace orc::detail {

// Not thread-safe: one thread owns it. Blocks only in wait_readable.
class broker_connection {
 public:
  // Of one receive_some(): a broker that floods must not keep its caller from other work.
  static constexpr int max_messages = 256;

  // A connection without a longer `round_trip` comes up nevertheless.
  static constexpr std::chrono::milliseconds longest_usual_round_trip{700};

  // Ends the old one. `round_trip`: of the network, if it is known; its time limits grow with it. On failure problem()
  // says why, and there is no connection.
  void open(zmq::context_t& context, const std::string& endpoint, std::chrono::milliseconds round_trip);
  void close() noexcept { socket_.close(); }
  [[nodiscard]] bool is_open() const noexcept { return static_cast<bool>(socket_); }

  // Numeric.
  [[nodiscard]] const std::string& endpoint() const noexcept { return endpoint_; }
  // Why there is no connection; normally empty.
  [[nodiscard]] const std::string& problem() const noexcept { return problem_; }
  // True while the connection is up. False also while libzmq reconnects.
  [[nodiscard]] bool is_connected() noexcept;
  // Readable when there may be something to receive; edge-triggered. -1: no connection (out of descriptors).
  [[nodiscard]] int fd() noexcept;
  // Receives a message of one frame. Drops messages of several frames. False: nothing is there.
  [[nodiscard]] bool try_recv(zmq::message_t& frame) noexcept;
  // Calls take(bytes) for each message that came, at most max_messages. True: there may be more.
  template <typename Take>
  [[nodiscard]] bool receive_some(Take take) {
    zmq::message_t frame;
    for (int n = 0; n < max_messages; ++n) {
      if (!try_recv(frame)) return false;
      take(std::span(frame.data<const std::byte>(), frame.size()));
    }
    return true;
  }
  // False: the broker takes nothing now.
  [[nodiscard]] bool try_send(const std::string& frame) noexcept;
  // False: not within that time.
  [[nodiscard]] bool wait_readable(int timeout_ms) noexcept;

 private:
  std::string endpoint_;
  std::string problem_;
  zmq::socket_t socket_;  // without a handle: no connection
};

}  // namespace orc::detail
