// A broker on the test's own thread: it hears and answers only during serve().
#pragma once

#include <zmq.h>

#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "support/private_endpoint.h"
#include "support/raw_socket.h"
#include "wire/control.h"

namespace orc::test {

class fake_broker {
 public:
  fake_broker() : socket_(ZMQ_ROUTER) { socket_.bind(where_.endpoint()); }

  [[nodiscard]] const std::string& endpoint() const { return where_.endpoint(); }

  // Takes all messages that came, and answers each of them.
  void serve() {
    while (const auto frames = socket_.receive(std::chrono::milliseconds(0))) {
      peer_ = frames->front();
      const std::string& content = frames->back();
      if (content.empty()) {  // the probe of a new connection
        if (!silent) say(0, welcome);
        continue;
      }
      auto message = wire::decode({reinterpret_cast<const std::byte*>(content.data()), content.size()});
      if (!message) continue;
      heard.push_back(*message);
      if (silent) continue;
      if (auto body = answer(*message)) say(message->request, std::move(*body));
    }
  }
  [[nodiscard]] bool has_peer() const noexcept { return !peer_.empty(); }
  // To the participant that was heard last. Request 0: an event.
  void say(std::uint64_t request, wire::body what) { say(wire::encode({request, std::move(what)})); }
  void say(const std::string& bytes) { socket_.send({peer_, bytes}); }

  // What a broker without any problem answers.
  [[nodiscard]] std::optional<wire::body> usual_answer(const wire::envelope& message) const {
    if (std::holds_alternative<wire::hello>(message.content)) return welcome;
    if (std::holds_alternative<wire::heartbeat>(message.content)) return std::nullopt;
    if (std::holds_alternative<wire::alive>(message.content)) return std::nullopt;
    if (const auto* const topic = std::get_if<wire::register_topic>(&message.content))
      return wire::topic_state{topic->topic, {}, {}, 0};
    if (const auto* const topic = std::get_if<wire::request_topic>(&message.content))
      return wire::topic_state{topic->topic, {}, {}, 0};
    return wire::ack{};
  }

  template <typename Message>
  [[nodiscard]] std::vector<Message> all() const {
    std::vector<Message> found;
    for (const auto& each : heard) {
      if (const auto* const one = std::get_if<Message>(&each.content)) found.push_back(*one);
    }
    return found;
  }

  wire::welcome welcome{7, 3000, 1000, false, "fake"};
  std::function<std::optional<wire::body>(const wire::envelope&)> answer = [this](const wire::envelope& message) {
    return usual_answer(message);
  };
  bool silent = false;  // hears, and says nothing
  std::vector<wire::envelope> heard;

 private:
  const private_endpoint where_;
  raw_socket socket_;
  std::string peer_;
};

}  // namespace orc::test
