// Whether repairs reach a reader. Where the MTU of its path is below that of the sender's interface, large datagrams
// vanish while small ones arrive. The reader then asks for the first part of each sample again and again.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "base/clock.h"

namespace orc::detail::multicast {

// Not thread-safe. The clock comes as an argument.
class repair_progress {
 public:
  // So many repairs in vain, over this time at least: reports that are on their way say nothing about the last repair.
  static constexpr int tries = 3;
  static constexpr std::chrono::milliseconds least{300};

  // The first part of a sample was sent to it, in a large datagram.
  void sent() noexcept { sent_ = true; }
  // It reports its newest complete sample, and whether it lacks the first part of a newer one.
  void reported(std::uint64_t newest, bool lacks_first, monotonic::time_point now) noexcept {
    if (newest > newest_ || !lacks_first)
      vain_ = 0;
    else if (sent_ && vain_++ == 0)
      since_ = now;
    newest_ = std::max(newest_, newest);
    sent_ = false;
  }
  [[nodiscard]] bool is_in_vain(monotonic::time_point now) const noexcept {
    return vain_ >= tries && now - since_ >= least;
  }

 private:
  std::uint64_t newest_ = 0;
  bool sent_ = false;  // since the last report
  int vain_ = 0;
  monotonic::time_point since_;  // of the first repair in vain
};

}  // namespace orc::detail::multicast
