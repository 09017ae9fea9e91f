// The samples that in-order readers of a publication still lack, and those that connections are in the middle of, over
// all of its ipc and tcp links. Each counts once, however many readers share it, and all of them have one budget: a
// reader is only the sequence that it gets next, and the one that it is in the middle of.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>

#include "core/frame.h"

namespace orc::detail {

// Not thread-safe: the publication serialises. Nothing here throws.
class sample_backlog {
 public:
  // A single sample may be larger.
  static constexpr std::size_t most_bytes = 64 * 1024 * 1024;
  // So many samples may be begun whatever their size: large ones must be possible for several readers.
  static constexpr std::size_t most_begun_of_any_size = 4;
  static constexpr std::uint64_t no_end = std::numeric_limits<std::uint64_t>::max();

  // The same sample, in a frame with the header in front of it. A slot of shared memory, which is only on loan, and a
  // frame that others may see without a header are copied, once for all who ask. Null: no memory. Valid until it is
  // called for another sample.
  [[nodiscard]] sample* frame_of(sample& s) noexcept;

  // `s` is kept for those who lack something already; it is not older than what is kept. The oldest ones go when that
  // is too much, also for readers that still lack them. False: no memory.
  [[nodiscard]] bool keep(sample& s) noexcept;
  // The same for one more reader, which lacked nothing yet: `s` is what it gets next.
  [[nodiscard]] bool start(sample& s) noexcept;
  // The oldest one with at least this sequence. Null: there is none.
  [[nodiscard]] sample* from(std::uint64_t sequence) noexcept;
  // A reader that was to get `sequence` next goes on with the first one from `next` on that is older than `end`.
  // Returns its sequence; 0: there is none, and this reader lacks nothing any more.
  std::uint64_t go_on(std::uint64_t sequence, std::uint64_t next, std::uint64_t end = no_end) noexcept;
  // Or it does not want any of them any more.
  void stop(std::uint64_t sequence) noexcept { (void)go_on(sequence, no_end); }

  // A connection has begun `s`, which it has to complete: half a sample cannot be dropped. When there is too much, what
  // is kept goes first, then the begun samples that no connection has taken any of for the longest time. False: no
  // memory.
  [[nodiscard]] bool begin(const sample& s) noexcept;
  // It has taken some more of it.
  void advance(std::uint64_t sequence) noexcept;
  // It has all of it, or is closed.
  void end(std::uint64_t sequence) noexcept;
  // Some begun samples have to go.
  [[nodiscard]] bool has_abandoned() const noexcept { return abandoned_ != 0; }
  // This one: connections in the middle of it have to be closed.
  [[nodiscard]] bool is_abandoned(std::uint64_t sequence) noexcept;

  // Sequences of what is kept; 0: nothing is.
  [[nodiscard]] std::uint64_t oldest() const noexcept { return kept_.empty() ? 0 : kept_.front().what.sequence; }
  [[nodiscard]] std::uint64_t newest() const noexcept { return kept_.empty() ? 0 : kept_.back().what.sequence; }
  // Of what is kept or begun.
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }

 private:
  struct entry {
    sample what;
    std::size_t next_of = 0;  // readers that get it next, and then all that follows
  };

  struct begun {
    std::uint64_t sequence = 0;
    std::size_t size = 0;
    std::size_t readers = 0;
    std::uint64_t advanced = 0;  // when one of them has last taken some of it
    bool abandoned = false;      // counts no more
  };

  [[nodiscard]] std::deque<entry>::iterator find(std::uint64_t sequence) noexcept;
  [[nodiscard]] bool keeps(std::uint64_t sequence) noexcept;
  void drop_oldest() noexcept;
  [[nodiscard]] std::deque<begun>::iterator find_begun(std::uint64_t sequence) noexcept;
  [[nodiscard]] begun* begun_of(std::uint64_t sequence) noexcept;
  void make_room() noexcept;

  std::deque<entry> kept_;   // in the order of sequences; the first one is what somebody gets next
  std::deque<begun> begun_;  // in the order of sequences
  std::size_t abandoned_ = 0;
  std::uint64_t advances_ = 0;  // the clock of `advanced`
  std::size_t bytes_ = 0;
  sample made_;  // by frame_of
};

// The header in front of the payload is that of this sample.
[[nodiscard]] bool has_header(sample& s) noexcept;

}  // namespace orc::detail
