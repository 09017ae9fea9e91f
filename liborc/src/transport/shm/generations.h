// The memory of a publication: the current segment, the next one while it is prepared, and old ones until they are
// given back. Does long work in slices, without the publication's lock.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/clock.h"
#include "orc/options.h"
#include "orc/result.h"
#include "transport/frame.h"
#include "transport/shm/sliced_work.h"
#include "transport/shm/slot_writer.h"

namespace orc::detail::shm {

// What the subscribers of a publication need, in total.
struct demand {
  std::uint64_t size = 0;  // of a sample
  std::uint32_t pins = 0;
  std::uint32_t depth = 0;
  std::uint32_t joining = 0;  // subscribers that wait for memory
};

// Not thread-safe: the publication serialises. work() has its own contract.
class generations {
 public:
  // For all subscribers together. A pinned slot cannot be reused, so this bounds the memory that they can hold.
  static constexpr std::uint32_t max_pins = 1024;
  static constexpr std::uint64_t max_pinned_bytes = std::uint64_t{16} << 30;
  static constexpr std::uint32_t shares = 4;  // one process has one share
  static constexpr std::uint64_t max_history_bytes = 64 * 1024 * 1024;
  static constexpr std::uint64_t max_sample_bytes = std::uint64_t{1} << 36;

  generations(std::size_t expected_size, std::uint32_t history, const shared_memory_options& options)
      : expected_size_(expected_size), history_(history), options_(options) {}

  // Takes memory for samples of the expected size now. ok when none is expected.
  [[nodiscard]] result reserve();

  // The current segment. Null: there was neither a subscriber nor an expected size.
  [[nodiscard]] const std::shared_ptr<slot_writer>& current() const noexcept { return current_; }
  [[nodiscard]] std::uint32_t number() const noexcept { return number_; }
  // Where to fill the next sample in place: the next segment as soon as it is usable and needs no older sample.
  // Publishing in it makes it current: publish_in_next().
  [[nodiscard]] const std::shared_ptr<slot_writer>& for_loans() const noexcept { return redirects_ ? next_ : current_; }

  // For the sender, at once: makes sure that the segment has slots of d.size. False: no memory, and nothing changed.
  [[nodiscard]] bool make_room(const demand& d) noexcept;
  // The sample in this slot of the next segment is written: makes it the newest, and the segment current.
  void publish_in_next(std::uint32_t slot, std::uint64_t size, const wire::sample_header& header) noexcept;

  // For subscribers that wait.
  enum class progress : std::uint8_t {
    ready,    // there is memory for them, with `last` in it
    working,  // call again: at once when work() is done
    waiting,  // until a sample is written, or for the next second
    failed    // no memory
  };
  [[nodiscard]] bool acceptable(const demand& d) const noexcept { return fits(d, 1); }
  // Whether it is at most one of so many parts of the total, so that it cannot keep out others.
  [[nodiscard]] bool acceptable_share(const demand& d, std::uint32_t parts) const noexcept { return fits(d, parts); }
  [[nodiscard]] progress prepare(const demand& d, sample* last, std::span<const pin_table> pins) noexcept;
  // While they wait, samples go through shared memory although no reader is there.
  [[nodiscard]] bool expects_readers() const noexcept { return expects_readers_; }
  // No subscriber waits any more. Keeps the prepared memory for a moment.
  void rest() noexcept;

  // Returns, once, the segment that was current before a call of this class changed that. Its readers do not know yet.
  // [M2] [M3]
  [[nodiscard]] std::shared_ptr<slot_writer> take_left() noexcept { return std::exchange(left_, nullptr); }
  // Gives back segments that have no user here any more, and takes the next slots of a history of large samples.
  void tidy(monotonic::time_point now = monotonic::now()) noexcept;
  [[nodiscard]] std::shared_ptr<sliced_work> work() const noexcept { return work_; }

 private:
  // The purpose of the work, when it is done.
  struct task {
    std::shared_ptr<slot_writer> in;
    std::uint32_t taken = 0;  // slots that then exist
    std::optional<std::uint32_t> slot;
    std::uint64_t size = 0;
    wire::sample_header header;  // of the sample copied there
  };

  [[nodiscard]] bool fits(const demand& d, std::uint32_t parts) const noexcept;
  [[nodiscard]] slot_writer::needs needs_of(const demand& d) const noexcept;
  [[nodiscard]] bool suffices(const slot_writer& of, const slot_writer::needs& n) const noexcept;
  [[nodiscard]] std::shared_ptr<slot_writer> make(slot_writer::needs n);
  [[nodiscard]] std::uint32_t slots_to_take(const slot_writer& of, const demand& d) const noexcept;
  void start(std::uint64_t begin, std::uint64_t end, task what, sliced_work::slice each);
  void take_ahead();
  void start_taking(const std::shared_ptr<slot_writer>& in, std::uint32_t slots);
  void start_copy(const std::shared_ptr<slot_writer>& to, std::uint32_t slot, sample from);
  [[nodiscard]] bool finish() noexcept;
  [[nodiscard]] progress prepare_next(const demand& d, const slot_writer::needs& n);
  [[nodiscard]] progress catch_up();
  [[nodiscard]] progress bring(sample* last, std::span<const pin_table> pins);
  void give_up() noexcept;
  void adopt() noexcept;
  void retire(std::shared_ptr<slot_writer> segment) noexcept;

  const std::size_t expected_size_;
  const std::uint32_t history_;
  const shared_memory_options options_;

  std::shared_ptr<slot_writer> current_;
  std::uint32_t number_ = 0;  // generation of the current one
  std::shared_ptr<slot_writer> left_;
  std::vector<std::shared_ptr<slot_writer>> retired_;  // until they have no loan

  std::shared_ptr<slot_writer> next_;
  bool redirects_ = false;
  std::uint64_t copied_ = 0;     // sequence of the last sample copied to next_
  std::uint32_t overtaken_ = 0;  // how many were copied
  monotonic::time_point caught_up_at_;
  monotonic::time_point kept_since_;  // since no subscriber waits for next_
  bool expects_readers_ = false;
  std::shared_ptr<sliced_work> work_;
  task task_;
};

}  // namespace orc::detail::shm
