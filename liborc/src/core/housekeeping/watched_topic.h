// What the housekeeping remembers about one topic: its descriptors, and when to look at it again.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "base/clock.h"
#include "core/publication/publication.h"
#include "core/subscription/subscription.h"

namespace orc::detail {

struct watched_topic {
  using timers = std::multimap<monotonic::time_point, watched_topic*>;

  // One of both; neither: the thread's own descriptors, whose events take a whole turn.
  std::shared_ptr<publication> sender = {};
  std::shared_ptr<subscription> receiver = {};
  std::vector<int> watched = {};
  int absent_fd = -1;                                              // the one of them to drain
  monotonic::time_point look_at = monotonic::time_point::max();    // at all of it
  monotonic::time_point resume_at = monotonic::time_point::max();  // until then its links rest; max: they do not
  timers::iterator timer = {};                                     // at the earlier of both

  [[nodiscard]] bool is_resting() const noexcept { return resume_at != monotonic::time_point::max(); }
};

}  // namespace orc::detail
