// The samples that in-order readers of a publication still lack, over all of its ipc and tcp links. Each is kept once,
// however many readers lack it, and all of them have one budget: a reader is only the sequence that it gets next.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>

#include "core/frame.h"

namespace orc::detail {

// Not thread-safe: the publication serialises. Nothing here throws.
class sample_backlog {
 public:
  // A single sample may be larger.
  static constexpr std::size_t most_bytes = 64 * 1024 * 1024;

  // The same sample, in a frame with the header in front of it. A slot of shared memory, which is only on loan, and a
  // frame that others may see without a header are copied, once for all who ask. Null: no memory. Valid until it is
  // called for another sample.
  [[nodiscard]] sample* frame_of(sample& s) noexcept;

  // One more reader lacks `s`, which is not older than what is kept. The oldest ones go when that is too much, also for
  // readers that still lack them. False: no memory.
  [[nodiscard]] bool add(sample& s) noexcept;
  // The oldest one with at least this sequence. Null: there is none.
  [[nodiscard]] sample* from(std::uint64_t sequence) noexcept;
  // A reader that lacked this one has got it, or does not want it any more.
  void release(std::uint64_t sequence) noexcept;
  // The same for all from `sequence` on.
  void release_from(std::uint64_t sequence) noexcept;

  // Sequences of what is kept; 0: nothing is.
  [[nodiscard]] std::uint64_t oldest() const noexcept { return kept_.empty() ? 0 : kept_.front().what.sequence; }
  [[nodiscard]] std::uint64_t newest() const noexcept { return kept_.empty() ? 0 : kept_.back().what.sequence; }
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }

 private:
  struct entry {
    sample what;  // without a buffer: no reader lacks it any more
    std::size_t readers = 0;
  };

  [[nodiscard]] std::deque<entry>::iterator find(std::uint64_t sequence) noexcept;
  void release(entry& e) noexcept;
  void drop_bytes(entry& e) noexcept;
  void trim() noexcept;

  std::deque<entry> kept_;  // in the order of sequences
  std::size_t bytes_ = 0;
  sample made_;  // by frame_of
};

// The header in front of the payload is that of this sample.
[[nodiscard]] bool has_header(sample& s) noexcept;

}  // namespace orc::detail
