// The queue of one inproc reader: one place for the newest sample, or `depth` places in order.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>

#include "base/threads/pi_mutex.h"
#include "transport/sample_ring.h"
#include "transport/transport.h"

namespace orc::detail {

// The publisher's thread puts, the subscription takes. Any thread.
class inproc_queue {
 public:
  inproc_queue(const delivery& wanted, std::shared_ptr<doorbell> bell)
      : samples_(wanted.depth == 0 ? 1 : wanted.depth), bell_(std::move(bell)) {}

  // Returns how many samples it dropped to make room.
  std::uint64_t put(sample&& s) noexcept {
    std::uint64_t dropped = 0;
    {
      const std::lock_guard lock(mutex_);
      dropped = samples_.push(std::move(s));
      filled_.store(true, std::memory_order_relaxed);
    }
    bell_->ring();
    return dropped;
  }

  [[nodiscard]] bool take(sample& out) noexcept {
    if (!filled_.load(std::memory_order_relaxed)) return false;
    const std::lock_guard lock(mutex_);
    if (!samples_.pop(out)) return false;
    filled_.store(!samples_.empty(), std::memory_order_relaxed);
    return true;
  }

 private:
  pi_mutex mutex_;
  sample_ring samples_;
  std::atomic<bool> filled_{false};
  std::shared_ptr<doorbell> bell_;
};

}  // namespace orc::detail
