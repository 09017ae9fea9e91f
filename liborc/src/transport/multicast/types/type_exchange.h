// Compares the types that publications announce with the one that a subscription expects. Equal hashes match. For
// another hash it fetches the description from the publication and compares that, once per hash.
//
// Announcements and descriptions come from any program. So few descriptions are on their way at a time, each is short,
// and each ends when it does not move. Publications that wait take turns, so one that never answers does not keep
// others from their turn.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/clock.h"
#include "orc/result.h"
#include "transport/multicast/datagram/orc_datagram.h"
#include "transport/multicast/sender_table.h"
#include "transport/multicast/types/type_comparison.h"
#include "wire/described_type.h"

namespace orc::detail::multicast {

// Not thread-safe. No I/O; the clock comes as an argument.
class type_exchange {
 public:
  // Descriptions that are on their way at a time.
  static constexpr std::size_t max_transfers = 8;
  // A request is repeated after this time, then at growing intervals.
  static constexpr std::chrono::milliseconds first_retry{200};
  static constexpr std::chrono::milliseconds max_retry{1000};
  // A turn ends when nothing came for so long, or when all of it did not come within the second time.
  static constexpr std::chrono::seconds max_silence{2};
  static constexpr std::chrono::seconds max_turn{5};
  // Then the sender waits for its next turn, at first so long.
  static constexpr std::chrono::seconds first_pause{1};
  static constexpr std::chrono::seconds max_pause{30};
  // Between two comparisons, so that types that are made to be slow (type_comparison.h) occupy the housekeeping for a
  // tenth of the time.
  static constexpr std::chrono::milliseconds between_comparisons{200};
  // Verdicts that are remembered for further senders.
  static constexpr std::size_t max_known = 32;

  // `expected`: null: all types match, at no cost.
  explicit type_exchange(std::shared_ptr<const described_type> expected) : expected_(std::move(expected)) {}

  // True when it checks anything.
  [[nodiscard]] explicit operator bool() const noexcept { return expected_ != nullptr; }

  // The sender announced a publication with this type; 0: untyped. One that changes its type gets no turn earlier.
  void announced(sender& whom, std::uint64_t hash, monotonic::time_point now) noexcept;
  // A part of a description. False: it is not what was asked for.
  [[nodiscard]] bool on_type(sender& from, const orc_datagram& d, monotonic::time_point now) noexcept;
  // The sender's request for a description, or nothing: it is not its turn.
  [[nodiscard]] static std::optional<orc_datagram> request(sender& to, const wire::id& link) noexcept;

  // Takes the outcome of a comparison, ends turns and begins others. Sets sender::wants_report where a request is due,
  // or a first report, because the type matches. Compares nothing, so it is quick.
  void step(sender_table& senders, monotonic::time_point now) noexcept;
  // When the next step is due; time_point::max(): when the next datagram comes.
  [[nodiscard]] monotonic::time_point next_step() const noexcept { return next_step_; }
  // The comparison that is due, of the complete description that was begun first. The caller calls its step(), and then
  // step() here. Null: none is due.
  [[nodiscard]] std::shared_ptr<upkeep> work(const sender_table& senders, monotonic::time_point now) noexcept;

 private:
  struct known {
    std::uint64_t hash = 0;  // 0: unused
    std::string problem;     // empty: it matches
    std::string publisher;   // that the problem names
  };
  [[nodiscard]] bool take_known(sender& whom);
  void take_outcome(sender_table& senders, monotonic::time_point now);
  void refuse_long(sender& whom);
  static void settle(sender& whom, const std::string& problem);
  static void end_turn(sender& whom, monotonic::time_point now) noexcept;
  void begin_turn(sender& whom, monotonic::time_point now);
  void plan(const sender_table& senders, monotonic::time_point now) noexcept;

  const std::shared_ptr<const described_type> expected_;
  std::array<known, max_known> known_;
  std::size_t next_known_ = 0;
  std::shared_ptr<type_comparison> comparison_;  // that is under way
  monotonic::time_point next_comparison_;
  monotonic::time_point next_step_ = monotonic::time_point::max();
};

}  // namespace orc::detail::multicast
