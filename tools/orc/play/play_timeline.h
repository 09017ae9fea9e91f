// Which moment of the recording plays at which moment of the clock.
#pragma once

#include <cstdint>

namespace orc::cli {

// Positions are received_ns of the recording; `now` is CLOCK_MONOTONIC in ns. Both grow together, `rate` times as fast,
// from the point where they were set last, so no error adds up. A thread at a time.
class play_timeline {
 public:
  play_timeline(std::int64_t position_ns, double rate, bool paused) noexcept
      : position_ns_(position_ns), rate_(rate), paused_(paused) {}

  [[nodiscard]] double rate() const noexcept { return rate_; }
  [[nodiscard]] bool paused() const noexcept { return paused_; }
  // What plays now.
  [[nodiscard]] std::int64_t position_ns(std::int64_t now_ns) const noexcept;
  // When this position plays. Only while it is not paused.
  [[nodiscard]] std::int64_t due_ns(std::int64_t position_ns) const noexcept;

  void jump(std::int64_t position_ns, std::int64_t now_ns) noexcept;
  void pause(std::int64_t now_ns) noexcept;
  void resume(std::int64_t now_ns) noexcept;
  void set_rate(double rate, std::int64_t now_ns) noexcept;

 private:
  std::int64_t position_ns_;
  std::int64_t set_at_ns_ = 0;
  double rate_;
  bool paused_;
};

}  // namespace orc::cli
