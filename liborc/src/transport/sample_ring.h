// A bounded queue of samples that drops its oldest for a new one. Its memory grows to the largest use so far, within
// its depth, and then stays.
#pragma once

#include <algorithm>
#include <cstdint>
#include <new>
#include <utility>
#include <vector>

#include "transport/frame.h"

namespace orc::detail {

// Not thread-safe.
class sample_ring {
 public:
  explicit sample_ring(std::size_t depth) : depth_(depth) {}

  [[nodiscard]] bool empty() const noexcept { return count_ == 0; }
  [[nodiscard]] bool full() const noexcept { return count_ == depth_; }
  [[nodiscard]] std::size_t size() const noexcept { return count_; }
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }
  [[nodiscard]] sample& front() noexcept { return slots_[first_]; }

  // Returns how many samples (0 or 1) were dropped.
  std::uint64_t push(sample&& s) noexcept {
    const bool room = count_ < depth_ && (count_ < slots_.size() || grow());
    const std::uint64_t dropped = room ? 0 : 1;
    if (slots_.empty()) return dropped;  // no memory for a single one
    if (!room) drop_front();
    bytes_ += s.buffer.size();
    slots_[(first_ + count_) % slots_.size()] = std::move(s);
    ++count_;
    return dropped;
  }

  [[nodiscard]] bool pop(sample& out) noexcept {
    if (count_ == 0) return false;
    bytes_ -= slots_[first_].buffer.size();
    out = std::move(slots_[first_]);
    advance();
    return true;
  }

  void drop_front() noexcept {
    bytes_ -= slots_[first_].buffer.size();
    slots_[first_].buffer.reset();
    advance();
  }

  void clear() noexcept {
    while (count_ != 0) drop_front();
  }

 private:
  void advance() noexcept {
    first_ = (first_ + 1) % slots_.size();
    --count_;
  }

  // False: no memory.
  bool grow() noexcept try {
    std::vector<sample> larger(std::min(depth_, std::max<std::size_t>(1, slots_.size() * 2)));
    for (std::size_t i = 0; i < count_; ++i) larger[i] = std::move(slots_[(first_ + i) % slots_.size()]);
    slots_ = std::move(larger);
    first_ = 0;
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }

  std::size_t depth_;
  std::vector<sample> slots_;
  std::size_t first_ = 0;
  std::size_t count_ = 0;
  std::size_t bytes_ = 0;
};

}  // namespace orc::detail
