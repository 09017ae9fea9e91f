// Virtual time: what is due happens in order, and every choice comes from one seed. So the same seed gives the same
// run.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"

namespace orc::test {

class scheduler {
 public:
  using time = detail::monotonic::time_point;
  using duration = std::chrono::nanoseconds;

  explicit scheduler(std::uint64_t seed) : state_(seed) { events_.reserve(256); }
  scheduler(const scheduler&) = delete;
  scheduler& operator=(const scheduler&) = delete;

  [[nodiscard]] time now() const noexcept { return now_; }
  // Milliseconds since the start.
  [[nodiscard]] long ms() const noexcept { return static_cast<long>((now_ - start) / std::chrono::milliseconds(1)); }

  // Events of the same time happen in the order in which they were added.
  void at(time when, std::function<void()> what) {
    events_.push_back({std::max(when, now_), count_++, std::move(what)});
    std::push_heap(events_.begin(), events_.end(), later{});
  }
  void after(duration pause, std::function<void()> what) { at(now_ + pause, std::move(what)); }
  void run_for(duration length) { run_until(now_ + length); }
  void run_until(time end) {
    while (!events_.empty() && events_.front().when <= end) {
      std::pop_heap(events_.begin(), events_.end(), later{});
      const event next = std::move(events_.back());
      events_.pop_back();
      now_ = next.when;
      next.what();
    }
    now_ = end;
  }

  // ---- choices ----
  // Below `limit`, which is not 0.
  [[nodiscard]] std::uint64_t pick(std::uint64_t limit) noexcept { return next() % limit; }
  [[nodiscard]] duration between(duration least, duration most) noexcept {
    return least + duration(static_cast<std::int64_t>(pick(static_cast<std::uint64_t>((most - least).count()) + 1)));
  }
  [[nodiscard]] bool chance(unsigned percent) noexcept { return pick(100) < percent; }
  [[nodiscard]] std::uint64_t next() noexcept {  // splitmix64
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27U)) * 0x94d049bb133111eb;
    return z ^ (z >> 31U);
  }

 private:
  struct event {
    time when;
    std::uint64_t number;
    std::function<void()> what;
  };
  struct later {
    bool operator()(const event& a, const event& b) const noexcept {
      return std::pair(a.when, a.number) > std::pair(b.when, b.number);
    }
  };

  static constexpr time start{std::chrono::hours(1)};  // so that "not before" may be the epoch

  std::uint64_t state_;
  time now_ = start;
  std::uint64_t count_ = 0;
  std::vector<event> events_;  // a heap
};

}  // namespace orc::test
