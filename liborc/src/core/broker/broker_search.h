// Finds the address broker: tries one candidate after the other until a broker answers.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>
#include <zmq.hpp>

#include "base/clock.h"
#include "base/network/name_lookup.h"

namespace orc::detail {

// Not thread-safe: the housekeeping owns it. Blocks only in wait_readable.
class broker_search {
 public:
  // Time for one candidate, when there are others. It doubles in each further round, for slow networks and busy
  // brokers.
  static constexpr auto patience = std::chrono::milliseconds(300);
  static constexpr auto max_patience = std::chrono::milliseconds(1000);
  // Of one receive_some(): a broker that floods must not keep its caller from other work.
  static constexpr int max_messages = 256;

  // `endpoint`: the only candidates to try. Empty: broker_candidates() without those that another user could have made.
  // A host name stands for all of its addresses; another thread looks them up.
  broker_search(zmq::context_t& context, const std::string& endpoint);

  // Connects to the next candidate when the current one had its time. Has no effect once a broker answered. True: the
  // search went on, so candidates() may have changed.
  bool step(monotonic::time_point now);
  [[nodiscard]] monotonic::time_point next_step() const noexcept { return until_; }
  // True when there are other candidates or addresses to try.
  [[nodiscard]] bool has_choice() const noexcept { return candidates_.size() > 1 || addresses_.size() > 1; }
  // True while the connection is up. False also while libzmq reconnects.
  [[nodiscard]] bool is_connected() noexcept;
  // A broker answers at the current candidate: stay there at least until then.
  void stay(monotonic::time_point until) noexcept { until_ = std::max(until_, until); }
  // The route there changed: makes a new connection to the current candidate, which gets its time again.
  void reconnect(monotonic::time_point now);
  // Begins again at the first candidate.
  void restart() noexcept;

  // ---- the connection that is tried, or over which a broker answered ----
  // The current endpoint, numeric.
  [[nodiscard]] const std::string& endpoint() const noexcept { return endpoint_; }
  // True: the user named it. False: it was found.
  [[nodiscard]] bool is_named() const noexcept { return named_; }
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

  // The candidates for people, each with its problem: "ipc:///run/orc/broker, tcp://127.0.0.1:5570". `findings`:
  // further problems, of the first candidates; may be shorter than the list.
  [[nodiscard]] std::string candidates(const std::vector<std::string>& findings) const;
  // Why a candidate cannot be tried at all (a bad endpoint); normally empty.
  [[nodiscard]] const std::string& problem() const noexcept { return problem_; }

 private:
  struct candidate {
    std::string endpoint;
    std::string problem;  // why it was left out the last time
  };
  struct address {
    std::size_t candidate = 0;
    std::string endpoint;  // numeric
    bool operator==(const address&) const = default;
  };
  void look_up(monotonic::time_point now);
  void take_addresses();
  [[nodiscard]] bool leave_out(const address& which);
  void connect(const std::string& endpoint);

  zmq::context_t& context_;
  const bool named_;
  std::vector<candidate> candidates_;
  std::vector<address> addresses_;  // of all candidates, in their order
  std::size_t next_ = 0;            // index into addresses_
  std::chrono::milliseconds time_for_one_ = patience;
  bool may_stay_ = false;  // the current candidate gets time to answer once its connection is up
  name_lookup names_;
  monotonic::time_point asked_;  // when the addresses of names were looked up
  std::string endpoint_;
  std::string problem_;
  zmq::socket_t socket_;  // without a handle: no connection
  monotonic::time_point until_;
};

}  // namespace orc::detail
