#include "transport/shm/slot_writer.h"

#include <fcntl.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <new>
#include <utility>

namespace orc::detail::shm {

namespace {

constexpr std::uint64_t min_stride = 256;
constexpr std::uint64_t max_given_up = 64;  // per search

[[nodiscard]] std::uint64_t stride_for(std::uint64_t capacity) noexcept {
  const std::uint64_t needed = capacity + sizeof(slot_header);
  if (needed <= large_slot) return std::bit_ceil(std::max(needed, min_stride));
  return (needed + page_size - 1) / page_size * page_size;
}

}  // namespace

shape slot_writer::shape_for(const needs& n) noexcept {
  const std::uint32_t entries = std::clamp<std::uint32_t>(n.history, 1, max_history) + 1;
  return {.slots = entries + n.pins + not_pinned, .entries = entries, .stride = stride_for(n.capacity)};
}

expected<std::shared_ptr<slot_writer>> slot_writer::make(const shape& s, std::uint32_t generation, bool huge_pages) {
  if (!s.makes_sense()) return error(errc::no_memory, "samples of this size do not fit into shared memory");
  auto made = make_shared_memory(s.bytes(), others::only_read, huge_pages);
  if (!made) return made.error();
  try {
    return std::make_shared<slot_writer>(s, generation, *std::move(made));
  } catch (const std::bad_alloc&) {
    return error(errc::no_memory);
  }
}

slot_writer::slot_writer(const shape& s, std::uint32_t generation, shared_memory memory)
    : shape_(s), memory_(std::move(memory)), marks_(s.slots), backed_(s.slots), holders_(s.slots) {
  retired_.reserve(s.slots);
  segment_header& h = header();
  h.magic = magic;
  h.shape = s;
  h.generation = generation;
}

void slot_writer::note_taken(std::uint32_t slots) noexcept {
  std::fill(backed_.begin() + taken_, backed_.begin() + std::max(taken_, slots), shape_.stride);
  taken_ = std::max(taken_, slots);
}

std::optional<std::uint32_t> slot_writer::take(std::span<const pin_table> readers) noexcept {
  if (!stocked_) stock(readers);
  return std::exchange(stocked_, std::nullopt);
}

void slot_writer::stock(std::span<const pin_table> readers) noexcept {
  if (!stocked_) stocked_ = find(readers);
}

// [A1] Takes used slots first, because the memory of others does not exist yet. A reader that moves from one slot to
// another may show in both, once. So it needs a round for each reader, one more, and one after give_up_taken().
std::optional<std::uint32_t> slot_writer::find(std::span<const pin_table> readers) noexcept {
  bool gave_up = false;
  for (std::size_t round = 0; round <= readers.size() + 1; ++round) {
    bool marked = false;
    for (std::size_t i = 0; i < retired_.size(); ++i) {
      const std::uint32_t slot = retired_[i];
      if (marked && marks_[slot] == mark_) continue;
      if (is_free(slot, readers)) {
        retired_.erase(retired_.begin() + static_cast<std::ptrdiff_t>(i));
        return slot;
      }
      if (!std::exchange(marked, true)) mark_pinned(readers);
    }
    if (!std::exchange(gave_up, true) && give_up_taken(readers)) continue;
    if (unused_ < shape_.slots) return unused_++;
  }
  return std::nullopt;
}

// [A4] Takes samples that all subscribers in order have taken out of the history. True: there are more candidates now.
bool slot_writer::give_up_taken(std::span<const pin_table> readers) noexcept {
  const std::uint64_t newest = at_sequence_;
  if (newest <= kept_ || shape_.history() <= kept_) return false;
  std::uint64_t last = newest - kept_;
  bool in_order = false;
  for (const pin_table& reader : readers) {
    if (!reader.in_order) continue;
    in_order = true;
    last = std::min(last, reader.page->taken.load(std::memory_order_acquire));
  }
  if (!in_order) return false;
  bool more = false;
  given_up_ = std::max(given_up_, newest - std::min<std::uint64_t>(newest, shape_.entries));
  last = std::min(last, given_up_ + max_given_up);
  for (; given_up_ < last; ++given_up_) {
    std::atomic<std::uint32_t>& entry = history()[(given_up_ + 1) % shape_.entries];
    const std::uint32_t slot = entry.load(std::memory_order_relaxed);
    if (slot == 0) continue;
    entry.store(0);
    retired_.push_back(slot - 1);
    more = true;
  }
  return more;
}

// Marks pinned slots, so that many pins are read once for all candidates, not once for each.
void slot_writer::mark_pinned(std::span<const pin_table> readers) noexcept {
  ++mark_;
  for (const pin_table& reader : readers) {
    for (std::uint32_t i = 0; i < reader.count; ++i) {
      const std::uint32_t pin = reader.page->pins[i].load(std::memory_order_relaxed);
      if (pin != 0 && pin <= shape_.slots) marks_[pin - 1] = mark_;
    }
  }
}

// A slot's memory exists only after its first write. Allocates here, so that this call fails and not the write
// (SIGBUS).
bool slot_writer::ensure_backed(std::uint32_t slot, std::uint64_t size) noexcept {
  const std::uint64_t needed = sizeof(slot_header) + size;
  if (needed <= backed_[slot]) return true;
  const auto begin = static_cast<off_t>(shape_.slots_at() + slot * shape_.stride + backed_[slot]);
  int rc = 0;
  do rc = ::fallocate(memory_.fd.get(), 0, begin, static_cast<off_t>(needed - backed_[slot]));
  while (rc != 0 && errno == EINTR);
  if (rc != 0 && errno != EOPNOTSUPP) return false;
  backed_[slot] = needed;
  return true;
}

// A reader that pins the slot from now on finds the guard changed and lets it go. A reader that pinned it before is
// seen.
bool slot_writer::is_free(std::uint32_t slot, std::span<const pin_table> readers) noexcept {
  if (holders_[slot].load(std::memory_order_acquire) != 0) return false;
  header_of(slot).guard.store(0);  // [A2]
  for (const pin_table& reader : readers) {
    for (std::uint32_t i = 0; i < reader.count; ++i) {
      if (reader.page->pins[i].load() == slot + 1) return false;  // [A3]
    }
  }
  return true;
}

void slot_writer::publish(std::uint32_t slot, std::uint64_t size, const wire::sample_header& h) noexcept {
  slot_header& in = header_of(slot);
  if (holders_[slot].load(std::memory_order_relaxed) != 0) std::erase(retired_, slot);  // it was lent
  in.size.store(size, std::memory_order_relaxed);  // [C1], the payload is there already
  wire::put(h, in.wire_header);
  in.guard.store(h.sequence, std::memory_order_release);  // [C2]
  std::atomic<std::uint32_t>& entry = entry_for(h.sequence);
  const std::uint32_t leaving = entry.load(std::memory_order_relaxed);
  entry.store(slot + 1, std::memory_order_release);  // [C3]
  header().latest.store(slot, std::memory_order_release);
  header().newest.store(h.sequence);  // [C4]
  if (leaving != 0) retired_.push_back(leaving - 1);
}

std::atomic<std::uint32_t>& slot_writer::entry_for(std::uint64_t sequence) noexcept {
  const bool next = sequence == at_sequence_ + 1 && at_sequence_ != 0;
  at_entry_ = next ? (at_entry_ + 1 == shape_.entries ? 0 : at_entry_ + 1)
                   : static_cast<std::uint32_t>(sequence % shape_.entries);
  at_sequence_ = sequence;
  return history()[at_entry_];
}

std::size_t slot_writer::lent() const noexcept {
  return static_cast<std::size_t>(std::count_if(retired_.begin(), retired_.end(), [this](std::uint32_t slot) {
    return holders_[slot].load(std::memory_order_relaxed) != 0;
  }));
}

void slot_writer::lend(std::uint32_t slot) noexcept {
  holders_[slot].store(1, std::memory_order_relaxed);
  retired_.push_back(slot);  // so that it is found again after the drop
}

std::optional<slot_writer::published> slot_writer::first_after(std::uint64_t sequence, const shape& s) const noexcept {
  const std::uint64_t last = newest();
  const std::uint64_t many = std::min<std::uint64_t>({shape_.history(), s.history(), last});
  for (std::uint64_t wanted = std::max(sequence, last - many) + 1; wanted <= last; ++wanted) {
    const std::uint32_t at = history()[wanted % shape_.entries].load(std::memory_order_relaxed);
    if (at == 0) continue;
    const slot_header& there = header_of(at - 1);
    const std::uint64_t size = there.size.load(std::memory_order_relaxed);
    if (there.guard.load(std::memory_order_relaxed) == wanted && size <= s.capacity())
      return published{at - 1, size, wire::get(there.wire_header)};
  }
  return std::nullopt;
}

bool slot_writer::inherit(const slot_writer& older, const published& sample) noexcept {
  const auto slot = take({});
  if (!slot) return false;
  if (!ensure_backed(*slot, sample.size)) {
    put_back(*slot);
    return false;
  }
  std::memcpy(payload(*slot), older.payload(sample.slot), sample.size);
  publish(*slot, sample.size, sample.header);
  return true;
}

bool slot_writer::inherit(const slot_writer& older, std::uint64_t after) noexcept {
  while (const auto next = older.first_after(after, shape_)) {
    if (!inherit(older, *next)) return false;
    after = next->header.sequence;
  }
  return true;
}

}  // namespace orc::detail::shm
