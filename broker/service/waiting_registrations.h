// Registrations of topics that another participant holds, while a probe finds out whether it lives. Bounded, in total
// and for each client.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "broker/map/topic_map.h"
#include "wire/control.h"

namespace orc {

class waiting_registrations {
 public:
  using time = topic_map::time;
  using routing = topic_map::routing;

  static constexpr std::size_t most = 32'768;
  static constexpr std::size_t max_bytes = std::size_t{16} << 20;
  // One client may use half of what the others leave of each.

  struct registration {
    routing from = 0;
    std::uint64_t request = 0;
    std::string client;
    wire::register_topic what;
  };
  struct settled {
    registration asked;
    std::optional<wire::id> alive_holder;  // nothing: it is dead, and removed
  };

  // Nothing: it waits. A retry of the same registration takes the place of the first; the answer carries its last
  // request id.
  [[nodiscard]] topic_map::done add(const wire::id& holder, registration asked,
                                    time deadline);  // deadlines never decrease
  // Returns the number of the probe to send, when the holder has not been asked yet; it counts as asked from now on.
  [[nodiscard]] std::optional<std::uint64_t> take_probe(const wire::id& holder);

  [[nodiscard]] bool waits_for(const wire::id& holder) const { return probes_.contains(holder); }
  // The holder answered, or will not.
  void settle(const wire::id& holder, bool alive);
  // Returns a holder that did not answer in time, once.
  [[nodiscard]] std::optional<wire::id> overdue(time now);
  // It gets more time, because the broker itself was late. Deadlines never decrease.
  void extend(const wire::id& holder, time deadline);
  void extend_all(time deadline);
  // Returns the next one whose holder is settled, in the order in which they came.
  [[nodiscard]] std::optional<settled> next();

  [[nodiscard]] bool empty() const noexcept { return probes_.empty(); }
  [[nodiscard]] bool any_settled() const noexcept { return !settled_.empty(); }
  [[nodiscard]] std::optional<time> next_deadline() const {
    return deadlines_.empty() ? std::nullopt : std::optional(deadlines_.front().first);
  }

 private:
  struct probe {
    std::uint64_t number = 0;
    bool sent = false;
    time deadline;
    std::vector<registration> waiting;
    std::map<std::pair<routing, std::string>, std::size_t> index;  // in waiting, by connection and topic
  };
  struct answered {
    std::optional<wire::id> alive_holder;
    std::vector<registration> waiting;
    std::size_t done = 0;
  };
  struct use {
    std::size_t count = 0;
    std::size_t bytes = 0;
  };

  static std::size_t bytes_of(const registration& of);
  void forget(const registration& gone) noexcept;

  std::map<wire::id, probe> probes_;                 // by holder
  std::deque<std::pair<time, wire::id>> deadlines_;  // of probes_, and of some that are settled already
  std::deque<answered> settled_;
  std::map<std::string, use> clients_;
  use all_;
  std::uint64_t last_probe_ = 0;
};

}  // namespace orc
