// When the housekeeping looks at which topic: at the events of its descriptors, and at its deadlines.
#pragma once

#include <optional>
#include <vector>

#include "base/clock.h"
#include "core/housekeeping/watch_set.h"
#include "core/housekeeping/watched_topic.h"

namespace orc::detail {

// Not thread-safe: the housekeeping thread owns it.
class topic_schedule {
 public:
  // False: out of descriptors.
  [[nodiscard]] bool is_open() const noexcept { return watch_set_.is_open(); }

  // Throws std::bad_alloc; then the topic is not in it.
  void add(watched_topic& which) { which.timer = timers_.emplace(monotonic::time_point{}, &which); }
  void remove(watched_topic& which) noexcept;

  // ---- deadlines ----
  void look_soon(watched_topic& which) noexcept;
  // After a change of the topic's times.
  void set_timer(watched_topic& which) noexcept;
  // The topics that are due, each once. Valid until the next call.
  [[nodiscard]] const std::vector<watched_topic*>& due(monotonic::time_point now);

  // ---- descriptors ----
  // Sets the descriptors of the topic.
  void watch(watched_topic& which, const std::vector<int>& fds);
  // All links of a publication rest together, because one lock serves them all. Of a subscription only the link of an
  // absent user does.
  static void rest(watched_topic& which, monotonic::time_point until, monotonic::time_point now) noexcept;
  // Waits for the next event of each descriptor that does not rest, or of one.
  void arm_all(watched_topic& which, monotonic::time_point now);
  void arm(watched_topic& which, int fd, monotonic::time_point now);

  // Waits for an event or a deadline, at most until `end`.
  void wait(monotonic::time_point end) noexcept;
  [[nodiscard]] std::optional<watch_set::event> next() noexcept { return watch_set_.next(); }

 private:
  watched_topic::timers timers_;
  watch_set watch_set_;
  std::vector<watched_topic*> due_;
};

}  // namespace orc::detail
