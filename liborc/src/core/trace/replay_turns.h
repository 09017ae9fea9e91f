// The order of a replay: which thread of this program makes which recorded call, and when.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/trace/replay_channel.h"
#include "core/trace/replay_clock.h"
#include "core/trace/replay_descriptors.h"
#include "orc/result.h"
#include "wire/trace_index.h"
#include "wire/trace_reader.h"

namespace orc::detail {

// A thread of this program plays the part of a recorded thread. It gets its part with its first call: the earliest
// recorded thread that began with the same call. A call waits until all recorded calls before it were made, except
// reads of clocks.
//
// Any thread. There is one in a process, and it lives as long as the process.
class replay_turns {
 public:
  // The calling thread's call.
  struct wanted {
    wire::trace_kind kind{};
    std::uint32_t number = 0;
    std::string_view topic = {};  // of set-up calls, which have no number yet
    std::span<const std::byte> sent = {};
  };

  // Before all others, once. When it fails, the replay is over.
  [[nodiscard]] result begin(const std::string& path, const std::string& control);
  // Waits for the turn of the call. Returns the recorded event; nothing: the replay is over, by the end of the trace or
  // a difference.
  [[nodiscard]] std::optional<wire::trace_event> take(const wanted& call);
  // Of a subscription, after its call was taken; -1: none is left.
  [[nodiscard]] int descriptor(std::uint32_t subscription);

 private:
  [[nodiscard]] result read(const std::string& path);
  // With the lock.
  [[nodiscard]] bool find_part(const wanted& call);
  [[nodiscard]] bool fits(const wanted& call, std::uint32_t index) const;
  // False: the replay is over.
  [[nodiscard]] bool wait_for_turn(std::unique_lock<std::mutex>& lock, std::uint32_t index);
  [[nodiscard]] bool is_equal(const wire::trace_event& recorded, std::span<const std::byte> sent);
  void advance(std::uint32_t index);
  void skip_clocks() noexcept;
  void announce(std::uint32_t part);
  void diverge(const wanted& call, std::optional<std::uint32_t> recorded);
  // Tells `orc replay` why.
  void end(wire::replay_says kind, std::uint64_t position, const std::string& why);
  void finish() noexcept;

  std::optional<wire::trace_reader> reader_;
  std::optional<wire::trace_index> index_;
  replay_channel channel_;

  std::mutex mutex_;  // guards the rest
  std::condition_variable turn_;
  std::uint32_t next_ = 0;                // in index_->calls()
  std::vector<std::uint32_t> positions_;  // of each part: calls made
  std::vector<bool> taken_;               // parts that a thread plays
  bool over_ = false;
  replay_clock clock_;
  replay_descriptors descriptors_;
};

}  // namespace orc::detail
