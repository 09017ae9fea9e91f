// The samples that in-order readers of a publication still lack, over all of its ipc and tcp links. Each is kept once,
// however many readers lack it, and all of them have one budget: a reader is only the sequence that it gets next.
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

  // Sequences of what is kept; 0: nothing is.
  [[nodiscard]] std::uint64_t oldest() const noexcept { return kept_.empty() ? 0 : kept_.front().what.sequence; }
  [[nodiscard]] std::uint64_t newest() const noexcept { return kept_.empty() ? 0 : kept_.back().what.sequence; }
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }

 private:
  struct entry {
    sample what;
    std::size_t next_of = 0;  // readers that get it next, and then all that follows
  };

  [[nodiscard]] std::deque<entry>::iterator find(std::uint64_t sequence) noexcept;
  void drop_oldest() noexcept;

  std::deque<entry> kept_;  // in the order of sequences; the first one is what somebody gets next
  std::size_t bytes_ = 0;
  sample made_;  // by frame_of
};

// The header in front of the payload is that of this sample.
[[nodiscard]] bool has_header(sample& s) noexcept;

}  // namespace orc::detail
