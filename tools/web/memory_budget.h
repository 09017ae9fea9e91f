// Bounds what many things hold in memory together.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>

namespace orc::web {

// Any thread may call. Owned by a shared_ptr.
class memory_budget : public std::enable_shared_from_this<memory_budget> {
 public:
  explicit memory_budget(std::size_t limit) : limit_(limit) {}

  // Returns a share of it, which ends with the last copy. Null: fewer than `spare` bytes would be left.
  [[nodiscard]] std::shared_ptr<const void> take(std::size_t bytes, std::size_t spare = 0) {
    std::size_t held = held_.load(std::memory_order_relaxed);
    do {
      if (bytes > limit_ - held || spare > limit_ - held - bytes) return nullptr;
    } while (!held_.compare_exchange_weak(held, held + bytes, std::memory_order_relaxed));
    return {static_cast<const void*>(this), [self = shared_from_this(), bytes](const void* /*unused*/) {
              self->held_.fetch_sub(bytes, std::memory_order_relaxed);
            }};
  }
  [[nodiscard]] std::size_t room() const noexcept { return limit_ - held_.load(std::memory_order_relaxed); }

 private:
  const std::size_t limit_;
  std::atomic<std::size_t> held_{0};
};

}  // namespace orc::web
