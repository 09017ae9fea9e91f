// Where the address broker may be, and trying one place after the other until one answers.
#pragma once

#include <string>
#include <vector>

#include "core/clock.h"
#include "core/zmq_socket.h"

namespace orc::detail {

// Not thread-safe: the housekeeping owns it.
class broker_search {
 public:
  static constexpr auto patience = std::chrono::milliseconds(300);  // for one place, when there are others

  // `endpoint`: the only place; empty: broker_candidates().
  broker_search(void* context, const std::string& endpoint);

  // Connects to the next place when the present one had its time. Harmless once something answered.
  void step(monotonic::time_point now);
  [[nodiscard]] monotonic::time_point next_step() const noexcept { return until_; }

  // The connection that is being tried, or that answered. Null: none at the moment (out of descriptors).
  [[nodiscard]] zmq_socket& socket() noexcept { return socket_; }
  [[nodiscard]] const std::string& endpoint() const noexcept { return endpoint_; }
  // Begin again at the first place.
  void restart() noexcept;

  // "ipc:///run/orc/broker, tcp://127.0.0.1:5570": for people.
  [[nodiscard]] std::string places() const;
  // Why a place cannot even be tried (a bad endpoint); empty normally.
  [[nodiscard]] const std::string& problem() const noexcept { return problem_; }

 private:
  void connect(const std::string& endpoint);

  void* context_;
  std::vector<std::string> places_;
  std::size_t next_ = 0;
  std::string endpoint_;
  std::string problem_;
  zmq_socket socket_;
  monotonic::time_point until_;
};

}  // namespace orc::detail
