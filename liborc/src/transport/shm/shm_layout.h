// The memory that a publication shares with its shm subscribers: the segment (the publisher writes, subscribers can
// only read it), and one page per subscriber (shared with the publisher alone). Slots as in the MIRA paper, IV.A;
// "newest" and "next" as in the Ach paper, III; liborc/doc/design/shm.md. tests/model has the protocol as a
// SPIN model. Its steps carry the labels [A1]…[S3] that the comments of this directory name.
//
// Accesses to atomics of the protocol are sequentially consistent where a label stands: [A2]/[A3] against [R4]/[R5] and
// [C4]/[C5] against [W2]/[W3] are "I write mine, then I read yours" on both sides, and at least one must see the other.
// The payload is plain memory between [A3] and [C2], and between [R5] and [U1].
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/threads/futex.h"
#include "wire/sample_header.h"

namespace orc::detail::shm {

static_assert(std::atomic<std::uint64_t>::is_always_lock_free && std::atomic<std::uint32_t>::is_always_lock_free);

inline constexpr std::uint64_t magic = 0x31304D485343524Full;  // "ORCSHM01"
inline constexpr std::size_t page_size = 4096;
inline constexpr std::size_t cache_line = 64;
inline constexpr std::uint32_t max_pins_of_reader = 64;  // of one subscriber
inline constexpr std::uint32_t max_slots = 1 << 20;
inline constexpr std::uint32_t max_history = 65536;
inline constexpr std::uint64_t max_segment_bytes = std::uint64_t{1} << 40;  // in bytes, most of which never exist

// The beginning of a slot. The payload follows at once, so that a small sample is one cache line, and the wire header
// is in front of it as in a frame.
struct alignas(32) slot_header {
  std::atomic<std::uint64_t> guard;  // sequence of the sample in here; 0: none, or being written
  std::atomic<std::uint64_t> size;
  std::byte wire_header[wire::sample_header::bytes];
};
static_assert(sizeof(slot_header) == 32);

// Samples of at least this size begin on a page of their own.
inline constexpr std::size_t large_slot = 64 * 1024;

// The layout of a segment. Constant.
struct shape {
  std::uint32_t slots = 0;
  // One entry more than samples can be asked for. While the newest is being replaced, a reader that does not know yet
  // must still find the oldest.
  std::uint32_t entries = 2;
  std::uint64_t stride = 0;  // bytes from slot to slot

  [[nodiscard]] std::uint64_t capacity() const noexcept { return stride - sizeof(slot_header); }
  [[nodiscard]] std::uint32_t history() const noexcept { return entries - 1; }
  [[nodiscard]] std::uint64_t history_at() const noexcept { return page_size; }
  [[nodiscard]] std::uint64_t slots_at() const noexcept {
    const std::uint64_t end = history_at() + std::uint64_t{entries} * sizeof(std::uint32_t);
    return (end + page_size - 1) / page_size * page_size;
  }
  [[nodiscard]] std::uint64_t bytes() const noexcept { return slots_at() + std::uint64_t{slots} * stride; }
  // For a shape from another process. True: all offsets are within bytes(), which does not overflow.
  [[nodiscard]] bool makes_sense() const noexcept {
    return slots >= 2 && slots <= max_slots && entries >= 2 && entries <= max_history + 1 && stride >= cache_line &&
           stride % cache_line == 0 && stride <= max_segment_bytes && bytes() <= max_segment_bytes;
  }
};

// At the start of a segment; one page.
struct segment_header {
  std::uint64_t magic;
  orc::detail::shm::shape shape;
  std::uint32_t generation;
  std::uint32_t reserved;  // 0

  // Written with every sample.
  alignas(cache_line) std::atomic<std::uint64_t> newest;  // sequence; 0: no sample yet
  std::atomic<std::uint32_t> latest;                      // its slot
  std::atomic<std::uint32_t> moved;                       // 1: a younger generation is in use
};
static_assert(sizeof(segment_header) <= page_size);

// One per subscriber, which may write anything here. The publisher only trusts that a number is a number.
struct reader_page {
  enum : std::uint32_t {
    sleeps = 1,       // in wants: on `word`, or is about to
    wants_alert = 2,  // in wants: on its alert socket
  };

  // Written by a subscriber that sleeps.
  alignas(cache_line) std::atomic<std::uint32_t> word;  // counts wake-ups; the futex
  std::atomic<std::uint32_t> wants;
  // Counts, and wakes one sleeper. More than one exists only when a peer wants to cost us time.
  void ring() noexcept {
    word.fetch_add(1);
    futex_wake(word, 1, futex_scope::shared);
  }
  // Written with every sample that is taken.
  alignas(cache_line) std::atomic<std::uint32_t> pins[max_pins_of_reader];  // 0, or slot + 1: a message lives there
  // Written by a subscriber in order: it has taken all that it will ever want up to this sequence.
  alignas(cache_line) std::atomic<std::uint64_t> taken;
};
static_assert(sizeof(reader_page) <= page_size);

}  // namespace orc::detail::shm
