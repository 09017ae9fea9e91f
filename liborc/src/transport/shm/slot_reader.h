// The subscriber's end of one segment, read-only: finds the newest or the next sample and pins its slot.
#pragma once

#include <atomic>
#include <memory>
#include <optional>

#include "transport/shm/shared_memory.h"
#include "transport/shm/shm_layout.h"
#include "transport/transport.h"

namespace orc::detail::shm {

// A segment as a subscriber maps it. Constant, except for what the publisher writes. Any thread.
class segment {
 public:
  // `bytes`: its size, as announced. Maps exactly that, and reads only the header. Nothing: the descriptor is no
  // segment of this size, or is not safe to read.
  [[nodiscard]] static std::shared_ptr<const segment> map(int fd, std::uint64_t bytes);
  segment(mapping memory, const shape& s) noexcept : memory_(std::move(memory)), shape_(s) {}

  [[nodiscard]] const shape& form() const noexcept { return shape_; }
  [[nodiscard]] const segment_header& header() const noexcept {
    return *reinterpret_cast<const segment_header*>(memory_.bytes());
  }
  [[nodiscard]] const slot_header& slot(std::uint32_t n) const noexcept {
    return *reinterpret_cast<const slot_header*>(memory_.bytes() + shape_.slots_at() + n * shape_.stride);
  }
  [[nodiscard]] std::byte* payload(std::uint32_t n) const noexcept {
    return memory_.bytes() + shape_.slots_at() + n * shape_.stride + sizeof(slot_header);
  }
  // Returns the slot of the sample with this sequence, if it is still there.
  // no_slot: the sample is not in the history.
  static constexpr std::uint32_t no_slot = ~std::uint32_t{0};
  [[nodiscard]] std::uint32_t slot_of(std::uint64_t sequence) const noexcept {
    const auto* const history =
        reinterpret_cast<const std::atomic<std::uint32_t>*>(memory_.bytes() + shape_.history_at());
    return history[sequence % shape_.entries].load(std::memory_order_acquire) - 1;
  }
  [[nodiscard]] std::uint64_t newest() const noexcept { return header().newest.load(); }

 private:
  mapping memory_;
  shape shape_;  // a copy, because the publisher could change the one in memory
};

// A sample in its slot; the pin is set.
struct pinned_sample {
  std::uint32_t slot = 0;
  std::uint64_t size = 0;
  wire::sample_header header;
};

enum class found : std::uint8_t {
  sample,
  nothing,    // newer than `seen`
  overtaken,  // the publisher was faster, again and again: try again
  nonsense    // none of our publishers writes such values
};

// Finds the sample that `which` means, given that `seen` was the last one returned. `pin`: the pin to use.
[[nodiscard]] found pin_sample(const segment& from, std::atomic<std::uint32_t>& pin, std::uint64_t seen, pick which,
                               pinned_sample& out) noexcept;
inline void unpin(std::atomic<std::uint32_t>& pin) noexcept { pin.store(0, std::memory_order_release); }  // [U1]

}  // namespace orc::detail::shm
