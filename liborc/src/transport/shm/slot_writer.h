// The publisher's end of one segment: finds an unused slot, and makes its sample the newest.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "transport/frame.h"
#include "transport/shm/shared_memory.h"
#include "transport/shm/shm_layout.h"

namespace orc::detail::shm {

// The pins of one subscriber.
struct pin_table {
  const reader_page* page = nullptr;
  std::uint32_t count = 0;
  bool in_order = false;  // it tells what it has taken
};

// Not thread-safe: the publication serialises; except let_go and the constant functions.
//
// shape_for() reserves so many slots that take() always finds one: one more than subscribers can pin.
class slot_writer {
 public:
  static constexpr std::uint32_t max_loans = 4;

  struct needs {
    std::uint64_t capacity = 0;  // in bytes, of a sample
    std::uint32_t history = 1;
    std::uint32_t pins = 0;  // of all subscribers together
  };
  [[nodiscard]] static shape shape_for(const needs& n) noexcept;
  // The number of pins that a shape has slots for.
  [[nodiscard]] static std::uint32_t pins_of(const shape& s) noexcept { return s.slots - s.entries - not_pinned; }

  [[nodiscard]] static expected<std::shared_ptr<slot_writer>> make(const shape& s, std::uint32_t generation,
                                                                   bool huge_pages);
  slot_writer(const shape& s, std::uint32_t generation, shared_memory memory);
  // From now on the history beyond the last `samples` is only for subscribers in order: what all of them have taken
  // leaves it when a slot is needed. So a few slots serve for as long as the subscribers keep up, and they stay in the
  // processor's caches. Without this call the whole history stays.
  void keep(std::uint32_t samples) noexcept { kept_ = samples + 1; }  // one more, as in shape::entries

  // ---- constant, any thread ----
  [[nodiscard]] const shape& form() const noexcept { return shape_; }
  [[nodiscard]] int fd() const noexcept { return memory_.fd.get(); }
  [[nodiscard]] std::uint32_t generation() const noexcept { return header().generation; }
  [[nodiscard]] std::uint32_t pages() const noexcept {
    return static_cast<std::uint32_t>(memory_.memory.size() / page_size);
  }
  [[nodiscard]] std::byte* payload(std::uint32_t slot) const noexcept {
    return reinterpret_cast<std::byte*>(&header_of(slot)) + sizeof(slot_header);
  }

  // ---- put ----
  // Returns a slot that no reader reads or will begin to read. [A1]-[A3]; does nothing more after stock().
  [[nodiscard]] std::optional<std::uint32_t> take(std::span<const pin_table> readers) noexcept;
  // Finds one for the next take() ahead of time.
  void stock(std::span<const pin_table> readers) noexcept;
  // Makes sure that `size` bytes can be written to it. False: no memory; then put it back.
  [[nodiscard]] bool ensure_backed(std::uint32_t slot, std::uint64_t size) noexcept;
  // Its payload is written: makes it the newest sample. [C2]-[C4]
  void publish(std::uint32_t slot, std::uint64_t size, const wire::sample_header& header) noexcept;
  // Gives back a slot that was taken and is not needed.
  void put_back(std::uint32_t slot) noexcept { retired_.push_back(slot); }

  // ---- memory before it is needed ----
  // Returns the end of the first `slots` slots.
  [[nodiscard]] std::uint64_t end_of(std::uint32_t slots) const noexcept {
    return shape_.slots_at() + slots * shape_.stride;
  }
  // Makes these bytes of the segment exist: shm::take_memory. Any thread, also while others use the segment.
  [[nodiscard]] result take_memory(std::uint64_t at, std::uint64_t size, bool lock) const {
    return shm::take_memory(memory_, at, size, lock);
  }
  // All bytes before end_of(slots) exist.
  void note_taken(std::uint32_t slots) noexcept;
  [[nodiscard]] std::uint32_t taken() const noexcept { return taken_; }
  // How many slots were used so far.
  [[nodiscard]] std::uint32_t used() const noexcept { return unused_; }
  // Frees everything behind the first `size` bytes. Only when nothing is in use any more.
  void trim(std::uint64_t size) noexcept { memory_.memory.trim(size); }

  // ---- loans: slots with an owner outside ----
  // False: too many are lent.
  [[nodiscard]] bool may_lend() const noexcept { return lent() < max_loans; }
  // How many slots are lent and not published.
  [[nodiscard]] std::size_t lent() const noexcept;
  // Reserves the slot until let_go. It may be published meanwhile.
  void lend(std::uint32_t slot) noexcept;
  void hold(std::uint32_t slot) noexcept { holders_[slot].fetch_add(1, std::memory_order_relaxed); }
  void let_go(std::uint32_t slot) noexcept { holders_[slot].fetch_sub(1, std::memory_order_release); }

  // ---- generations ----
  // A sample in its slot.
  struct published {
    std::uint32_t slot;
    std::uint64_t size;
    wire::sample_header header;
  };
  // Returns the first sample after this sequence that readers can still ask for here, and could in a segment of shape
  // `s`.
  [[nodiscard]] std::optional<published> first_after(std::uint64_t sequence, const shape& s) const noexcept;
  // Copies one sample of `older`. False: no memory; nothing changed.
  [[nodiscard]] bool inherit(const slot_writer& older, const published& sample) noexcept;
  // Copies all samples that first_after finds.
  [[nodiscard]] bool inherit(const slot_writer& older, std::uint64_t after = 0) noexcept;
  // No more samples will be published here. [M3]
  void move_on() noexcept { header().moved.store(1); }
  [[nodiscard]] std::uint64_t newest() const noexcept { return header().newest.load(std::memory_order_relaxed); }

 private:
  // Slots besides the entries and the pins: one for the next sample, one that the publication still holds while it
  // replaces its last sample, one that is being copied to the next generation, and the loans.
  static constexpr std::uint32_t not_pinned = 3 + max_loans;

  [[nodiscard]] segment_header& header() const noexcept {
    return *reinterpret_cast<segment_header*>(memory_.memory.bytes());
  }
  [[nodiscard]] std::atomic<std::uint32_t>* history() const noexcept {
    return reinterpret_cast<std::atomic<std::uint32_t>*>(memory_.memory.bytes() + shape_.history_at());
  }
  [[nodiscard]] slot_header& header_of(std::uint32_t slot) const noexcept {
    return *reinterpret_cast<slot_header*>(memory_.memory.bytes() + shape_.slots_at() + slot * shape_.stride);
  }
  [[nodiscard]] std::optional<std::uint32_t> find(std::span<const pin_table> readers) noexcept;
  [[nodiscard]] bool give_up_taken(std::span<const pin_table> readers) noexcept;
  [[nodiscard]] bool is_free(std::uint32_t slot, std::span<const pin_table> readers) noexcept;
  void mark_pinned(std::span<const pin_table> readers) noexcept;
  [[nodiscard]] std::atomic<std::uint32_t>& entry_for(std::uint64_t sequence) noexcept;

  const shape shape_;
  shared_memory memory_;
  std::vector<std::uint32_t> retired_;  // used before and not in the history, oldest first
  std::uint32_t unused_ = 0;            // slots from this one on were never used: their memory does not exist yet
  std::uint32_t taken_ = 0;             // slots before this one exist
  std::optional<std::uint32_t> stocked_;
  std::uint64_t kept_ = max_history + 1;
  std::uint64_t given_up_ = 0;     // samples up to this one have left the history
  std::uint64_t at_sequence_ = 0;  // of the last sample; its place saves a division per sample
  std::uint32_t at_entry_ = 0;
  std::uint64_t mark_ = 0;
  std::vector<std::uint64_t> marks_;   // of each slot: mark_ when it was pinned at the last look
  std::vector<std::uint64_t> backed_;  // of each slot: how many bytes exist
  std::vector<std::atomic<std::uint32_t>> holders_;
};

}  // namespace orc::detail::shm
