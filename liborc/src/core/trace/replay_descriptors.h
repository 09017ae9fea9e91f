// The descriptors that a replayed program polls.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <unordered_map>

#include "base/files/unique_fd.h"
#include "core/trace/replay_clock.h"
#include "wire/trace_index.h"

namespace orc::detail {

// A descriptor is readable while the next call of the thread that uses it is a receive from its subscription. Further
// receives follow it without another call in between; those whose descriptors were readable, too, are announced with
// it: one poll may have found them all. One thread at a time.
class replay_descriptors {
 public:
  // Returns that of a subscription; -1: none is left.
  [[nodiscard]] int of(std::uint32_t subscription);
  // After calls of a thread: announces the next ones, from `position` in the thread's calls on.
  void announce(const wire::trace_index& index, std::uint32_t thread, std::uint32_t position,
                const replay_clock& clock);
  // Makes all readable for good, also those to come, so that all that poll return.
  void finish() noexcept;

 private:
  struct announced {
    unique_fd timer;                    // readable from a moment on
    std::uint32_t thread = UINT32_MAX;  // whose next calls it announces
  };
  std::unordered_map<std::uint32_t, announced> all_;  // by subscription
  bool finished_ = false;
};

}  // namespace orc::detail
