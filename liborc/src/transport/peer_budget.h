// A program that connects to a publication. Until it says hello it is a stranger. Strangers have few places, and keep
// them for a short time. schemas/PROTOCOL.md has the limits.
#pragma once

#include <cstddef>

#include "base/clock.h"
#include "transport/allowance.h"

namespace orc::detail {

// Not thread-safe.
class peer_budget {
 public:
  static constexpr std::size_t max_strangers = 64;        // of a link
  static constexpr std::size_t max_strangers_scarce = 8;  // while the process has few descriptors left

  // Counts one more thing that it sent. A subscriber has little to send. One that floods us would keep senders from
  // getting the lock.
  [[nodiscard]] bool talks_too_much() noexcept { return said_.exceeded_by(1); }
  // True after the last one that was allowed.
  void refund() noexcept { said_.refund(); }
  // True: its time to say hello is over.
  [[nodiscard]] bool is_overdue(monotonic::time_point now) const noexcept {
    return now - said_.since() >= introduction;
  }
  // True once it had enough time to say hello over a local network, or to introduce itself. A newcomer may then take
  // its place.
  [[nodiscard]] bool may_be_replaced(monotonic::time_point now, bool introduced) const noexcept {
    return now - said_.since() >= (introduced ? grace : silence);
  }

 private:
  static constexpr auto introduction = std::chrono::seconds(1);
  static constexpr auto grace = std::chrono::milliseconds(20);
  static constexpr auto silence = std::chrono::milliseconds(5);  // subscribers send as soon as they are connected

  allowance said_{20};
};

}  // namespace orc::detail
