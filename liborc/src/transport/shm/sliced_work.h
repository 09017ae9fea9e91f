// Work on a range of memory, in slices of a fraction of a millisecond each.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <utility>

#include "transport/transport.h"

namespace orc::detail::shm {

class sliced_work final : public upkeep {
 public:
  // Works on the bytes [at, at + size). False: it failed, and the rest is skipped.
  using slice = std::function<bool(std::uint64_t at, std::uint64_t size)>;

  sliced_work(std::uint64_t begin, std::uint64_t end, slice each) : at_(begin), end_(end), each_(std::move(each)) {}

  // Does nothing while another thread is working.
  void step() noexcept override {
    if (done() || busy_.exchange(true, std::memory_order_acquire)) return;
    if (!done()) {
      const std::uint64_t size = std::min(slice_size, end_ - at_);
      const bool good = each_(at_, size);
      at_ += size;
      if (!good || at_ == end_) {
        failed_ = !good;
        each_ = nullptr;  // frees what it holds here, without the lock
        done_.store(true, std::memory_order_release);
      }
    }
    busy_.store(false, std::memory_order_release);
  }

  // Any thread.
  [[nodiscard]] bool done() const noexcept { return done_.load(std::memory_order_acquire); }
  // When it is done.
  [[nodiscard]] bool failed() const noexcept { return failed_; }

 private:
  static constexpr std::uint64_t slice_size = 1024 * 1024;

  std::uint64_t at_;
  const std::uint64_t end_;
  slice each_;
  bool failed_ = false;
  std::atomic<bool> busy_{false};
  std::atomic<bool> done_{false};
};

}  // namespace orc::detail::shm
