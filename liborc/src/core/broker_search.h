// Where the address broker may be, and trying one place after the other until one answers.
#pragma once

#include <optional>
#include <string>
#include <vector>
#include <zmq.hpp>

#include "core/clock.h"
#include "core/name_lookup.h"

namespace orc::detail {

// Not thread-safe: the housekeeping owns it. Waits for nothing but in wait_readable.
class broker_search {
 public:
  // For one place, when there are others; twice as long in each further round, for slow networks and busy brokers.
  static constexpr auto patience = std::chrono::milliseconds(300);
  static constexpr auto most_patience = std::chrono::milliseconds(1000);

  // `endpoint`: the only places; empty: broker_candidates(), those of them that another user could have made left out.
  // A host's name stands for all of its addresses, which are looked up beside this thread.
  broker_search(zmq::context_t& context, const std::string& endpoint);

  // Connects to the next place when the present one had its time. Harmless once something answered. True: it looked
  // around, so places() may say something else.
  bool step(monotonic::time_point now);
  [[nodiscard]] monotonic::time_point next_step() const noexcept { return until_; }
  // There are other places or addresses to go to.
  [[nodiscard]] bool has_choice() const noexcept { return places_.size() > 1 || ways_.size() > 1; }
  // The connection is up. False also while libzmq makes it anew.
  [[nodiscard]] bool is_connected() noexcept;
  // Somebody answers at the present place: it has at least until then.
  void stay(monotonic::time_point until) noexcept { until_ = std::max(until_, until); }
  // The way there changed: a new connection to the present place, which has its time again.
  void reconnect(monotonic::time_point now);
  // Begin again at the first place.
  void restart() noexcept;

  // ---- the connection that is being tried, or that answered ----
  // In numbers.
  [[nodiscard]] const std::string& endpoint() const noexcept { return endpoint_; }
  // The user named it; else it was found.
  [[nodiscard]] bool is_named() const noexcept { return named_; }
  // Readable when there may be something to receive; edge-triggered. -1: no connection (out of descriptors).
  [[nodiscard]] int fd() noexcept;
  // A message of one frame; those of several are dropped. False: nothing there.
  [[nodiscard]] bool try_recv(zmq::message_t& frame) noexcept;
  // False: the broker takes nothing at the moment.
  [[nodiscard]] bool try_send(const std::string& frame) noexcept;
  // False: not within that time.
  [[nodiscard]] bool wait_readable(int timeout_ms) noexcept;

  // "ipc:///run/orc/broker, tcp://127.0.0.1:5570", with what is wrong with a place: for people. `findings`: what else
  // was found at the first of them; may be shorter.
  [[nodiscard]] std::string places(const std::vector<std::string>& findings) const;
  // Why a place cannot even be tried (a bad endpoint); empty normally.
  [[nodiscard]] const std::string& problem() const noexcept { return problem_; }

 private:
  struct place {
    std::string endpoint;
    std::string problem;  // why it was left out when its turn came last
  };
  struct way {
    std::size_t place = 0;
    std::string endpoint;  // in numbers
    bool operator==(const way&) const = default;
  };
  void look_up(monotonic::time_point now);
  void take_addresses();
  [[nodiscard]] bool leave_out(const way& which);
  void connect(const std::string& endpoint);

  zmq::context_t& context_;
  const bool named_;
  std::vector<place> places_;
  std::vector<way> ways_;  // of all places, in their order
  std::size_t next_ = 0;   // of them
  std::chrono::milliseconds time_for_one_ = patience;
  bool may_stay_ = false;  // the present one gets time to answer once its connection is up
  name_lookup names_;
  monotonic::time_point asked_;  // for the addresses of names
  std::string endpoint_;
  std::string problem_;
  zmq::socket_t socket_;  // without a handle: none
  monotonic::time_point until_;
};

}  // namespace orc::detail
