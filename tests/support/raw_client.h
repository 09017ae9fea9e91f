// A participant without liborc: a bare DEALER socket that speaks the control protocol, or anything else.
#pragma once

#include <unistd.h>

#include <chrono>
#include <deque>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>
#include <vector>
#include <zmq.hpp>

#include "base/process/process_identity.h"
#include "wire/control.h"

namespace orc::test {

inline constexpr std::chrono::milliseconds generous{20'000};

// Introduces this process; `name` is what people see.
inline wire::hello hello_of_this_process(std::string name = "raw_client") {
  const auto pid = static_cast<std::uint32_t>(getpid());
  return {
      wire::id::random(), std::move(name),   detail::host_identity(), pid, detail::process_start_time(pid).value_or(0),
      "raw_client",       wire::id::random()};
}

class raw_client {
 public:
  // With `greet` the socket sends an empty message on every (re)connect, as participants do, and the broker's pushed
  // Welcome is the first event.
  explicit raw_client(const std::string& endpoint, bool greet = false)
      : context_(1), socket_(context_, zmq::socket_type::dealer) {
    socket_.set(zmq::sockopt::linger, 0);
    socket_.set(zmq::sockopt::immediate, true);
    socket_.set(zmq::sockopt::ipv6, true);
    if (greet) zmq_setsockopt(socket_.handle(), ZMQ_PROBE_ROUTER, &yes, sizeof yes);
    socket_.connect(endpoint);
  }

  void send_frames(const std::vector<std::string>& frames) {
    for (std::size_t i = 0; i < frames.size(); ++i) {
      socket_.send(zmq::buffer(frames[i]), i + 1 < frames.size() ? zmq::send_flags::sndmore : zmq::send_flags::none);
    }
  }
  void send(std::uint64_t request, wire::body content) { send_frames({wire::encode({request, std::move(content)})}); }

  // The next message of the broker; nothing within `limit`. Throws when it cannot be decoded.
  std::optional<wire::envelope> receive(std::chrono::milliseconds limit = generous) {
    zmq_pollitem_t item{socket_.handle(), 0, ZMQ_POLLIN, 0};
    if (zmq_poll(&item, 1, limit.count()) <= 0) return std::nullopt;
    zmq::message_t frame;
    if (!socket_.recv(frame) || frame.more()) throw std::runtime_error("not one frame");
    auto decoded = wire::decode({static_cast<const std::byte*>(frame.data()), frame.size()});
    if (!decoded) throw std::runtime_error(decoded.error().text);
    return *std::move(decoded);
  }

  // Sends under a new request id and waits for the answer to it; what is pushed meanwhile waits for next_event().
  wire::body ask(wire::body content) {
    const auto request = ++last_request_;
    send(request, std::move(content));
    return answer_to(request);
  }
  wire::body answer_to(std::uint64_t request) {
    for (;;) {
      auto message = receive();
      if (!message) throw std::runtime_error("the broker did not answer");
      if (message->request == request && !std::holds_alternative<wire::probe>(message->content)) {
        return std::move(message->content);
      }
      events_.push_back(std::move(*message));
    }
  }

  // Pushed by the broker: Welcome, TopicState, Probe.
  std::optional<wire::envelope> next_event(std::chrono::milliseconds limit = generous) {
    if (events_.empty()) return receive(limit);
    auto first = std::move(events_.front());
    events_.pop_front();
    return first;
  }

  zmq::socket_t& socket() { return socket_; }

 private:
  static constexpr int yes = 1;
  zmq::context_t context_;
  zmq::socket_t socket_;
  std::deque<wire::envelope> events_;
  std::uint64_t last_request_ = 0;
};

}  // namespace orc::test
