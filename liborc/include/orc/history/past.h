// The samples of a topic that a program keeps.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "orc/message.h"
#include "orc/result.h"
#include "orc/version.h"

namespace orc {

// How much is kept. Older samples go first when a limit is reached.
struct history_options {
  std::size_t samples = 1000;         // at most so many; 0 counts as 1
  std::chrono::nanoseconds age = {};  // and none that was sent more than this before the newest one; 0: any age
  std::size_t max_bytes = 64u << 20;  // of all their bytes together; a larger sample is not kept
};

// One kept sample.
struct past_sample {
  std::span<const std::byte> bytes = {};  // aligned to 16 bytes; valid until the next sample is kept
  std::uint64_t sequence = 0;             // message::sequence()
  std::int64_t stamp_ns = 0;              // message::stamp_ns()
  std::uint64_t missed = 0;               // message::missed()
  std::uint32_t publisher = 0;            // message::publisher()
};

// Keeps copies of the last samples, in the order of their stamps. Takes memory while it grows to its largest size, and
// then reuses it. A thread at a time.
class ORC_API past {
 public:
  // Keeps nothing yet.
  explicit past(const history_options& limits) noexcept;

  // Keeps a copy of a received sample. A sample that was sent before one of the same publisher that is kept, or of a
  // topic that is not shared, shows that the clock was set back or the publisher is another one: all earlier samples
  // are forgotten. A sample of a shared topic that was sent before one of another publisher gets its place in between;
  // if the limits leave none for it, ok, and it is not kept.
  // - bad_argument: there is no sample, or it is larger than max_bytes; the others stay.
  // - no_memory: it is not kept. Those that had to make room for it are gone.
  [[nodiscard]] errc keep(const message& sample) noexcept;
  // Forgets all samples.
  void clear() noexcept;

  // How many samples there can be.
  [[nodiscard]] std::size_t limit() const noexcept { return most_samples_; }
  // How many there are.
  [[nodiscard]] std::size_t size() const noexcept { return count_; }
  // Whether there is none.
  [[nodiscard]] bool empty() const noexcept { return count_ == 0; }
  // Of all kept samples.
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }
  // The oldest sample has index 0, the newest size() - 1. `index` is below size().
  [[nodiscard]] past_sample operator[](std::size_t index) const noexcept;

  // Returns how many samples were sent before this time: the index of the first sample that was not.
  [[nodiscard]] std::size_t before(std::int64_t stamp_ns) const noexcept;
  // The same, with those that were sent at this time.
  [[nodiscard]] std::size_t until(std::int64_t stamp_ns) const noexcept;

 private:
  struct entry {
    std::vector<std::byte> bytes = {};
    std::uint64_t sequence = 0;
    std::int64_t stamp_ns = 0;
    std::uint64_t missed = 0;
    std::uint32_t publisher = 0;
  };

  [[nodiscard]] const entry& at(std::size_t index) const noexcept { return ring_[place_of(index)]; }
  [[nodiscard]] std::size_t place_of(std::size_t index) const noexcept {
    const std::size_t place = first_ + index;
    return place < ring_.size() ? place : place - ring_.size();
  }
  void drop_oldest() noexcept;
  void make_room(std::size_t bytes, std::int64_t newest) noexcept;
  void grow();
  [[nodiscard]] bool was_set_back(const message& sample) const noexcept;
  [[nodiscard]] bool is_too_old(const message& sample, std::int64_t newest) const noexcept;
  void move_to_its_place() noexcept;  // the last one
  // The first index whose stamp is not below (or, `or_equal`, above) this one.
  [[nodiscard]] std::size_t search(std::int64_t stamp_ns, bool or_equal) const noexcept;

  std::size_t most_samples_;
  std::int64_t age_ns_;
  std::size_t max_bytes_;
  std::vector<entry> ring_;
  std::size_t first_ = 0;
  std::size_t count_ = 0;
  std::size_t bytes_ = 0;
};

}  // namespace orc
