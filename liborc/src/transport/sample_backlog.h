// The samples that in-order readers of a publication still lack, and those that connections have begun, over all of its
// ipc and tcp links. Each sample counts once, however many readers share it, and all have one budget. For each reader
// it needs only the sequence that the reader gets next, and the one that its connection has begun.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>

#include "transport/frame.h"

namespace orc::detail {

// Not thread-safe: the publication serialises. No call throws.
class sample_backlog {
 public:
  // One sample may be larger.
  static constexpr std::size_t max_bytes = 64 * 1024 * 1024;
  // This many samples may be begun, whatever their size, so that several readers can get large ones.
  static constexpr std::size_t max_begun_of_any_size = 4;
  static constexpr std::uint64_t no_end = std::numeric_limits<std::uint64_t>::max();

  // Returns the same sample in a frame. Copies a slot of shared memory, which is only on loan, once for all callers.
  // Null: no memory. Valid until the call for another sample.
  [[nodiscard]] sample* frame_of(sample& s) noexcept;

  // Keeps `s` for readers that lack something already. `s` is newer than all kept samples. When the budget is exceeded,
  // the oldest go, also those that readers still lack. False: no memory.
  [[nodiscard]] bool keep(sample& s) noexcept;
  // Same for one more reader that lacked nothing: `s` is the next one that it gets.
  [[nodiscard]] bool start(sample& s) noexcept;
  // Returns the oldest sample with at least this sequence. Null: there is none.
  [[nodiscard]] sample* from(std::uint64_t sequence) noexcept;
  // A reader whose next sample was `sequence` goes on with the first one from `next` on that is older than `end`.
  // Returns its sequence; 0: there is none, and this reader lacks nothing any more.
  std::uint64_t go_on(std::uint64_t sequence, std::uint64_t next, std::uint64_t end = no_end) noexcept;
  // The reader wants none of them any more.
  void stop(std::uint64_t sequence) noexcept { (void)go_on(sequence, no_end); }

  // A connection has begun `s` and has to complete it, because half a sample cannot be dropped. When the budget is
  // exceeded, kept samples go first, then the begun samples of which no connection has taken bytes for the longest
  // time. False: no memory.
  [[nodiscard]] bool begin(const sample& s) noexcept;
  // The connection has taken more of it.
  void advance(std::uint64_t sequence) noexcept;
  // The connection has all of it, or is closed.
  void end(std::uint64_t sequence) noexcept;
  // True: some begun samples have to go.
  [[nodiscard]] bool has_abandoned() const noexcept { return abandoned_ != 0; }
  // True for one that has to go: close the connections that are in the middle of it.
  [[nodiscard]] bool is_abandoned(std::uint64_t sequence) noexcept;

  // Sequences of the kept samples; 0: none is kept.
  [[nodiscard]] std::uint64_t oldest() const noexcept { return kept_.empty() ? 0 : kept_.front().what.sequence; }
  [[nodiscard]] std::uint64_t newest() const noexcept { return kept_.empty() ? 0 : kept_.back().what.sequence; }
  // Bytes of kept and begun samples.
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }

 private:
  struct entry {
    sample what;
    std::size_t next_of = 0;  // readers that get it next, and then all later ones
  };

  struct begun {
    std::uint64_t sequence = 0;
    std::size_t size = 0;
    std::size_t readers = 0;
    std::uint64_t advanced = 0;  // when a connection last took bytes of it
    bool abandoned = false;      // does not count any more
  };

  [[nodiscard]] std::deque<entry>::iterator find(std::uint64_t sequence) noexcept;
  [[nodiscard]] bool keeps(std::uint64_t sequence) noexcept;
  void drop_oldest() noexcept;
  [[nodiscard]] std::deque<begun>::iterator find_begun(std::uint64_t sequence) noexcept;
  [[nodiscard]] begun* begun_of(std::uint64_t sequence) noexcept;
  void make_room() noexcept;

  std::deque<entry> kept_;   // in the order of sequences; the first one is the next for some reader
  std::deque<begun> begun_;  // in the order of sequences
  std::size_t abandoned_ = 0;
  std::uint64_t advances_ = 0;  // the clock of `advanced`
  std::size_t bytes_ = 0;
  sample made_;  // by frame_of()
};

}  // namespace orc::detail
