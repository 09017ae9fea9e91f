// One call of publisher_link::service(). It holds the lock that send() takes, so it is always short. The rest of the
// work shows at the next call.
#pragma once

#include "base/clock.h"

namespace orc::detail {

// Not thread-safe.
class visit {
 public:
  static constexpr auto longest = std::chrono::microseconds(100);
  static constexpr int max_accepted = 16;  // connections

  // True: the time is over.
  [[nodiscard]] bool over() noexcept {
    if (monotonic::now() - begun_ < longest) return false;
    cut_short_ = true;
    return true;
  }
  // Some work is left.
  void cut_short() noexcept { cut_short_ = true; }
  // Peers sent something besides reading samples, which they may do without end.
  void heard() noexcept { heard_ = true; }

  // How long to leave the link alone afterwards. So other threads get the lock, and peers that never stop cost a fifth
  // of a processor at most.
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
