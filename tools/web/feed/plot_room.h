// What the points of all plots hold that no client has taken yet.
#pragma once

#include <atomic>
#include <cstddef>

namespace orc::web {

// Any thread may call. When it is full, plots become coarser.
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

}  // namespace orc::web
