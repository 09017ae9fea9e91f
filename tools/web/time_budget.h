// Limits the time of work that hostile or large samples can make long.
#pragma once

#include <time.h>

#include <algorithm>
#include <chrono>

namespace orc::web {

// Work may take a share of a core, and 100 ms at once. The last piece of work is not interrupted: it makes a debt,
// which the next ones wait for. A thread at a time.
class time_budget {
 public:
  using clock = std::chrono::steady_clock;
  static constexpr double usual_share = 0.2;
  static constexpr std::chrono::duration<double> at_once = std::chrono::milliseconds(100);

  explicit time_budget(double share = usual_share) noexcept : share_(share) {}

  // Whether more work may begin.
  [[nodiscard]] bool has_time(clock::time_point now) noexcept {
    left_ = std::min<std::chrono::duration<double>>(at_once, left_ + (now - counted_) * share_);
    counted_ = now;
    return left_.count() > 0;
  }
  // CPU time: what other programs take is not its own.
  void spend(std::chrono::nanoseconds time) noexcept { left_ -= time; }

 private:
  const double share_;
  std::chrono::duration<double> left_ = at_once;
  clock::time_point counted_ = {};
};

// CPU time of this thread.
[[nodiscard]] inline std::chrono::nanoseconds own_cpu_time() noexcept {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
}

}  // namespace orc::web
