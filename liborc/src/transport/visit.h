// One call of publisher_link::service(). It holds the lock that send() takes, so it is short however much there is to
// do: what is left shows at the next one.
#pragma once

#include "core/clock.h"

namespace orc::detail {

// Not thread-safe.
class visit {
 public:
  static constexpr auto longest = std::chrono::microseconds(100);
  static constexpr int most_accepted = 16;  // connections

  // Time for no more.
  [[nodiscard]] bool over() noexcept {
    if (monotonic::now() - begun_ < longest) return false;
    cut_short_ = true;
    return true;
  }
  // Something is left to be done.
  void cut_short() noexcept { cut_short_ = true; }
  // Peers had something to say, which they may do without end; not only samples to be written.
  void heard() noexcept { heard_ = true; }

  // How long the link is left alone afterwards, so that whoever waits for the lock gets it and peers that never stop
  // cost a fifth of a processor at most.
  [[nodiscard]] monotonic::duration rest() const noexcept {
    if (!cut_short_) return monotonic::duration::zero();
    return heard_ ? 4 * longest : longest / 2;
  }

 private:
  monotonic::time_point begun_ = monotonic::now();
  bool cut_short_ = false;
  bool heard_ = false;
};

}  // namespace orc::detail
