// Reduces the numbers of a field to what a plot can show: the smallest and the largest of each slot of time.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

namespace orc::web {

struct plot_point {
  double time_s = 0;  // of the newest number in the slot, since the Unix epoch
  double min = 0;     // both NaN: the slot has only NaN
  double max = 0;

  bool operator==(const plot_point&) const = default;
};

struct plot_batch {
  bool anew = false;  // does not continue the batch before
  std::vector<plot_point> points = {};
};

// What the points of all plots hold that no client has taken yet. When it is full, plots become coarser. Any thread may
// call.
class plot_room {
 public:
  static constexpr std::size_t max_bytes = std::size_t{64} << 20;

  void change(std::size_t before, std::size_t after) noexcept {
    bytes_.fetch_add(after - before, std::memory_order_relaxed);
  }
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_.load(std::memory_order_relaxed); }
  [[nodiscard]] bool full() const noexcept { return bytes() > max_bytes; }

 private:
  std::atomic<std::size_t> bytes_{0};
};

// Every number that comes counts in one point, also when points are not taken for long: then the oldest structure is
// coarser, and there are never more than max_pending points; when the room of all plots is full, few_pending. A thread
// at a time. `now_ns`: CLOCK_MONOTONIC.
class plot_sampler {
 public:
  static constexpr std::size_t max_pending = 4096;
  static constexpr std::size_t few_pending = 64;
  static constexpr double min_per_second = 0.01;
  static constexpr double max_per_second = 10'000;

  // Slots per second; values outside of the limits are moved to them. `room` may be null.
  explicit plot_sampler(double per_second, std::shared_ptr<plot_room> room = nullptr);
  ~plot_sampler();
  plot_sampler(const plot_sampler&) = delete;
  plot_sampler& operator=(const plot_sampler&) = delete;

  void set_resolution(double per_second);
  // `stamp_ns`: since the Unix epoch. Stamps that are a little older than the one before count at its time; those that
  // are more than a second older begin anew.
  void add(std::int64_t stamp_ns, double value, std::int64_t now_ns);
  // What comes next does not continue what came before: a gap, a jump or another publisher.
  void restart();

  // Whether take() has points now.
  [[nodiscard]] bool ready(std::int64_t now_ns) const noexcept;
  // Takes the points of complete slots, up to where it begins anew: ready() tells whether there are more. A slot is
  // complete when a later one begins, or when its time is over. More than `most` points merge first.
  [[nodiscard]] plot_batch take(std::int64_t now_ns, std::size_t most = max_pending);

 private:
  struct slot {
    std::int64_t stamp_ns = 0;
    double min = 0;
    double max = 0;
    bool anew = false;
  };

  void close_slot();
  void merge_neighbours();
  void count();
  [[nodiscard]] bool is_over(std::int64_t now_ns) const noexcept;

  const std::shared_ptr<plot_room> room_;
  std::size_t counted_ = 0;  // slots of complete_ that room_ knows
  std::int64_t width_ns_ = 1;
  std::deque<slot> complete_;
  slot open_;
  bool is_open_ = false;
  std::int64_t open_index_ = 0;
  std::int64_t opened_ns_ = 0;
  std::int64_t last_stamp_ns_ = 0;  // of the slot before
  bool anew_ = true;
};

}  // namespace orc::web
