// How much somebody who connects to a publication may say. The limits stand in schemas/PROTOCOL.md.
#pragma once

#include <cstdint>

#include "core/clock.h"

namespace orc::detail {

// Not thread-safe.
class visitor {
 public:
  static constexpr int most_accepted = 16;  // at a time: who sends must not wait for all who join

  // Counts one more thing that it said. A subscriber has little to say: one that floods us would keep those from
  // sending who wait for our lock.
  [[nodiscard]] bool talks_too_much() noexcept {
    const auto age_s = std::chrono::duration_cast<std::chrono::seconds>(monotonic::now() - since_).count();
    return ++said_ > most_said + most_said_per_s * static_cast<std::uint64_t>(age_s);
  }
  // The last one was asked for.
  void excuse() noexcept { --said_; }
  // It should have said hello by now.
  [[nodiscard]] bool is_overdue(monotonic::time_point now) const noexcept { return now - since_ >= introduction; }

 private:
  static constexpr auto introduction = std::chrono::seconds(5);
  static constexpr std::uint64_t most_said = 200;
  static constexpr std::uint64_t most_said_per_s = 20;

  monotonic::time_point since_ = monotonic::now();
  std::uint64_t said_ = 0;
};

}  // namespace orc::detail
