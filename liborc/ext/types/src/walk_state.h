// What each walk carries: the visitor, the place, the limits, and the error.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "orc/result.h"
#include "orc/types/decoder.h"
#include "orc/types/visitor.h"
#include "trail.h"

namespace orc::types::detail {

// Functions of a walk return whether it goes on: false after an error and after step::stop.
class walk_state {
 public:
  // `encoding` names the sample for messages: "lcm".
  walk_state(std::string_view encoding, std::size_t sample_bytes, visitor& receiver) noexcept
      : to(receiver), bytes_left_(std::max(max_visited_bytes, sample_bytes)), encoding_(encoding) {}

  visitor& to;
  trail here;  // not zeroed: it is large, and find() is to be quick

  // Ends the walk: "lcm sample, byte 12: `arm.q`: " and the sentence. Returns false.
  bool fail(std::size_t byte, std::string_view sentence);

  // Counts values that are about to be visited.
  [[nodiscard]] bool spend(std::size_t values, std::size_t byte) {
    if (values > values_left_) return fail(byte, "the sample has more values than are shown: 4,194,304");
    values_left_ -= values;
    return true;
  }
  // Counts bytes of a text or of numbers.
  [[nodiscard]] bool spend_bytes(std::size_t bytes, std::size_t byte) {
    if (bytes > bytes_left_) return fail(byte, "the sample shows the same bytes in too many fields");
    bytes_left_ -= bytes;
    return true;
  }
  // One structure or array deeper; leave() in any case.
  [[nodiscard]] bool enter(std::size_t byte) {
    return here.enter() || fail(byte, "structures and arrays are nested deeper than 64");
  }
  void leave() noexcept { here.leave(); }

  [[nodiscard]] result outcome() { return std::move(outcome_); }

 private:
  std::size_t values_left_ = max_values;
  std::size_t bytes_left_;
  std::string_view encoding_;
  result outcome_ = {};
};

}  // namespace orc::types::detail
