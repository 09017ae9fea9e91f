// Participants as the address broker sees them: raw DEALER connections that speak the control protocol (PROTOCOL.md),
// without the sockets and threads of a real participant, so that hundreds fit into one process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "benchmarks/support/zmq_end.h"
#include "wire/control.h"

namespace orc::bench {

// One connection. Not thread-safe.
class control_client {
 public:
  control_client(const zmq_context& context, const std::string& broker, const std::string& name);

  // Waits for the broker's greeting and introduces itself. False: no answer.
  bool meet(int within_ms);
  // Dropped while there is no connection.
  void send(std::uint64_t request, wire::body content);
  // The next message that is there; nothing when none is, or what came was not a message.
  std::optional<wire::envelope> try_receive();
  // Waits for the answer to `request`; answers probes meanwhile.
  std::optional<wire::envelope> answer_to(std::uint64_t request, int within_ms);
  [[nodiscard]] const wire::hello& hello() const noexcept { return hello_; }
  [[nodiscard]] void* socket() const noexcept { return socket_.get(); }

 private:
  zmq_socket socket_;
  wire::hello hello_;
};

// Participants with publications that keep their broker informed as liborc does: say hello and register everything when
// a broker greets them, renew at 1 Hz with counters, answer probes. All in the thread that calls run().
class fleet {
 public:
  // The participants use the brokers in turns.
  fleet(const zmq_context& context, const std::vector<std::string>& brokers, std::size_t participants,
        std::size_t topics);
  ~fleet();

  // Works until `done` says so or `seconds` are over; true when it was `done`.
  bool run(double seconds, const std::function<bool()>& done);
  // Everything is unknown again: before the broker is killed.
  void forget_registrations();
  [[nodiscard]] std::size_t registered() const noexcept;
  [[nodiscard]] std::size_t topics() const noexcept { return topics_; }
  [[nodiscard]] std::uint64_t errors() const noexcept { return errors_; }
  [[nodiscard]] std::string topic(std::size_t index) const;

  // Every participant requests `each` topics, one after the other, all participants at the same time. The time from
  // request to answer is appended to `ns`. False: not all were answered within `seconds`.
  bool request_storm(std::size_t each, double seconds, std::vector<std::int64_t>& ns);

 private:
  struct member;
  void handle(member& m, const wire::envelope& message, std::vector<std::int64_t>* storm_ns);
  void declare(member& m);
  void beat(member& m, std::int64_t now);
  void next_request(member& m);
  void turn(int timeout_ms, std::vector<std::int64_t>* storm_ns);
  std::int64_t beat_all(std::int64_t now);  // when the next one is due

  std::vector<std::unique_ptr<member>> members_;
  std::size_t topics_;
  std::uint64_t errors_ = 0;
};

}  // namespace orc::bench
