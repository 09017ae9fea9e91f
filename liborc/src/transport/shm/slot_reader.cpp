#include "transport/shm/slot_reader.h"

#include <algorithm>
#include <cstring>
#include <new>

namespace orc::detail::shm {

namespace {

// Each try fails only when the publisher has sent meanwhile. After this many, the caller first checks for other work (a
// deadline, a signal to end), and comes back.
constexpr std::uint64_t max_tries = 100;

// None of our publishers reaches this, and counting up to it would not end.
constexpr std::uint64_t last_of_all = ~std::uint64_t{0};

}  // namespace

std::shared_ptr<const segment> segment::map(int fd, std::uint64_t bytes) {
  if (bytes < page_size || bytes > max_segment_bytes) return nullptr;
  mapping memory = map_read_only(fd, bytes);
  if (!memory) return nullptr;
  const auto& there = *reinterpret_cast<const segment_header*>(memory.bytes());
  shape s;
  std::memcpy(&s, &there.shape, sizeof s);
  std::atomic_signal_fence(std::memory_order_seq_cst);  // uses exactly what it checked, whatever is written there now
  if (there.magic != magic || !s.makes_sense() || memory.size() < s.bytes()) return nullptr;
  return std::make_shared<const segment>(std::move(memory), s);
}

found pin_sample(const segment& from, std::atomic<std::uint32_t>& pin, std::uint64_t seen, pick which,
                 pinned_sample& out) noexcept {
  const segment_header& header = from.header();
  const std::uint64_t max_steps = max_tries + 2 * from.form().entries;
  for (std::uint64_t steps = 0; steps < max_steps; ++steps) {
    const std::uint64_t newest = header.newest.load();  // [R1]
    if (newest <= seen) return found::nothing;
    if (newest == last_of_all) return found::nonsense;
    std::uint64_t wanted = 0;  // any
    std::uint32_t slot = 0;
    if (which == pick::newest) {
      slot = header.latest.load(std::memory_order_acquire);  // [R2]
    } else {
      const std::uint64_t oldest = newest - std::min<std::uint64_t>(newest, from.form().history()) + 1;
      for (wanted = std::max(seen + 1, oldest); wanted <= newest && steps < max_steps; ++wanted, ++steps) {
        slot = from.slot_of(wanted);  // [R2'] [R3']
        if (slot < from.form().slots && from.slot(slot).guard.load(std::memory_order_acquire) == wanted) break;
      }
    }
    if (wanted != 0 && slot == segment::no_slot) continue;  // it left the history, so there is a newer one
    if (slot >= from.form().slots) return found::nonsense;
    const slot_header& in = from.slot(slot);
    const std::uint64_t guard = in.guard.load(std::memory_order_acquire);  // [R3]
    if (guard == 0 || (wanted != 0 && guard != wanted)) continue;
    pin.store(slot + 1);                                                                 // [R4]
    if (in.guard.load() == guard) {                                                      // [R5]
      out = {slot, in.size.load(std::memory_order_relaxed), wire::get(in.wire_header)};  // [R6]
      if (out.size <= from.form().capacity() && out.header.sequence == guard) return found::sample;
      unpin(pin);
      return found::nonsense;
    }
    unpin(pin);
  }
  return found::overtaken;
}

}  // namespace orc::detail::shm
