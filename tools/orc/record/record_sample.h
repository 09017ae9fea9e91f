// A sample between the receiving and the writing thread.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include "orc/message.h"
#include "tools/orc/record/record_source.h"
#include "tools/support/clock.h"

namespace orc::cli {

// A moment by both clocks. The wall clock names it for people and for the file. It can be set, so intervals are taken
// from the other one.
struct record_moment {
  std::int64_t wall_ns = 0;    // CLOCK_REALTIME: since the Unix epoch
  std::int64_t steady_ns = 0;  // CLOCK_MONOTONIC

  [[nodiscard]] static record_moment now() noexcept { return {bench::clock_ns(CLOCK_REALTIME), bench::now_ns()}; }
};

// Copies of larger samples have their memory alone; smaller ones share it with others of their time.
inline constexpr std::size_t small_sample = std::size_t{16} * 1024;

// Counts the messages of a subscription that exist, so that the receiving thread copies before shared memory runs out.
class record_pin {
 public:
  record_pin() noexcept = default;
  explicit record_pin(std::shared_ptr<std::atomic<std::uint32_t>> count) noexcept : count_(std::move(count)) {
    count_->fetch_add(1, std::memory_order_relaxed);
  }
  record_pin(record_pin&& other) noexcept = default;
  record_pin& operator=(record_pin&& other) noexcept {
    if (this != &other) {
      release();
      count_ = std::move(other.count_);
    }
    return *this;
  }
  ~record_pin() { release(); }

 private:
  void release() noexcept {
    if (count_) count_->fetch_sub(1, std::memory_order_relaxed);
    count_.reset();
  }
  std::shared_ptr<std::atomic<std::uint32_t>> count_;
};

// Either holds the message as it was received, or a copy of its bytes.
struct record_sample {
  std::shared_ptr<record_source> source = {};
  message held = {};
  record_pin pin = {};                           // of `held`
  std::shared_ptr<const std::byte[]> copy = {};  // null: `held` has the bytes
  std::size_t size = 0;
  std::uint64_t sequence = 0;
  std::int64_t stamp_ns = 0;
  record_moment received = {};

  [[nodiscard]] std::span<const std::byte> bytes() const noexcept {
    if (copy) return {copy.get(), size};
    return held.bytes();
  }
  // Copies of small samples share memory with others of their time. One that stays for long gets its own.
  void detach() {
    if (!copy || size > small_sample) return;
    std::shared_ptr<std::byte[]> own(new std::byte[size + 1]);
    std::copy_n(copy.get(), size, own.get());
    copy = std::move(own);
  }
  // Another owner of the same bytes. Only of a copy.
  [[nodiscard]] record_sample share() const {
    record_sample other;
    other.source = source;
    other.copy = copy;
    other.size = size;
    other.sequence = sequence;
    other.stamp_ns = stamp_ns;
    other.received = received;
    return other;
  }
};

}  // namespace orc::cli
