// Finds the address broker: tries one candidate after the other until a broker answers. Then it looks whether an
// earlier candidate answers again.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>
#include <zmq.hpp>

#include "base/clock.h"
#include "base/network/name_lookup.h"
#include "core/broker/broker_connection.h"

namespace orc::detail {

// Not thread-safe: the housekeeping owns it. Blocks only in wait_readable.
class broker_search {
 public:
  // Time for one candidate, when there are others. It doubles in each further round, for slow networks and busy
  // brokers.
  static constexpr auto patience = std::chrono::milliseconds(300);
  static constexpr auto max_patience = std::chrono::milliseconds(1000);
  // Between two attempts at an earlier candidate.
  static constexpr auto look_back_interval = std::chrono::milliseconds(1000);

  // `endpoint`: the only candidates to try. Empty: broker_candidates() without those that another user could have made.
  // A host name stands for all of its addresses; another thread looks them up.
  broker_search(zmq::context_t& context, const std::string& endpoint);

  // Connects to the next candidate when the current one had its time. Has no effect once a broker answered. True: the
  // search went on, so candidates() may have changed.
  bool step(monotonic::time_point now);
  [[nodiscard]] monotonic::time_point next_step() const noexcept { return until_; }
  // True when there are other candidates or addresses to try.
  [[nodiscard]] bool has_choice() const noexcept { return candidates_.size() > 1 || addresses_.size() > 1; }
  [[nodiscard]] bool is_connected() noexcept { return connection_.is_connected(); }
  // A broker answers at the current candidate: stay there at least until then.
  void stay(monotonic::time_point until) noexcept { until_ = std::max(until_, until + 2 * round_trip_); }
  // The network's round trip was measured. All time limits grow with it; connects anew where it is too long for the
  // connection that is tried.
  void expect_round_trip(std::chrono::milliseconds trip, monotonic::time_point now);
  // The route there changed: makes a new connection to the current candidate, which gets its time again.
  void reconnect(monotonic::time_point now);
  // Begins again at the first candidate.
  void restart() noexcept;

  // ---- the way back, while a broker answers ----
  // Connects to a candidate before the one that answers, if there is one and it is time.
  void look_back(monotonic::time_point now);
  [[nodiscard]] monotonic::time_point next_look_back() const noexcept {
    return at_ == 0 ? monotonic::time_point::max() : look_back_at_;
  }
  // That connection; perhaps not open.
  [[nodiscard]] broker_connection& earlier() noexcept { return earlier_; }
  // It is of no use: closes it, and looks back again at that time.
  void look_back_later(monotonic::time_point at) noexcept;
  // A broker answers there: that connection becomes the current one. Returns the one that was.
  broker_connection go_back() noexcept;

  // ---- the connection that is tried, or over which a broker answered ----
  // Broker_connection has the contracts.
  [[nodiscard]] const std::string& endpoint() const noexcept { return connection_.endpoint(); }
  // True: the user named it. False: it was found.
  [[nodiscard]] bool is_named() const noexcept { return named_; }
  [[nodiscard]] int fd() noexcept { return connection_.fd(); }
  [[nodiscard]] bool try_recv(zmq::message_t& frame) noexcept { return connection_.try_recv(frame); }
  template <typename Take>
  [[nodiscard]] bool receive_some(Take take) {
    return connection_.receive_some(take);
  }
  [[nodiscard]] bool try_send(const std::string& frame) noexcept { return connection_.try_send(frame); }
  [[nodiscard]] bool wait_readable(int timeout_ms) noexcept { return connection_.wait_readable(timeout_ms); }

  // The candidates for people, each with its problem: "ipc:///run/orc/broker, tcp://127.0.0.1:5570". `findings`:
  // further problems, of the first candidates; may be shorter than the list.
  [[nodiscard]] std::string candidates(const std::vector<std::string>& findings) const;
  // Why a candidate cannot be tried at all (a bad endpoint); normally empty.
  [[nodiscard]] const std::string& problem() const noexcept { return connection_.problem(); }

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

  zmq::context_t& context_;
  const bool named_;
  std::vector<candidate> candidates_;
  std::vector<address> addresses_;  // of all candidates, in their order
  std::size_t next_ = 0;            // index into addresses_
  std::chrono::milliseconds time_for_one_ = patience;
  bool may_stay_ = false;  // the current candidate gets time to answer once its connection is up
  name_lookup names_;
  monotonic::time_point asked_;  // when the addresses of names were looked up
  std::chrono::milliseconds round_trip_{0};
  broker_connection connection_;
  std::size_t at_ = 0;  // the candidate of the connection
  monotonic::time_point until_;
  broker_connection earlier_;  // to a candidate before that one
  std::size_t earlier_at_ = 0;
  std::size_t next_earlier_ = 0;  // counts the attempts
  monotonic::time_point look_back_at_;
};

}  // namespace orc::detail
