// What a subscription knows about the type of one sender: the hash that it announced, the verdict, and its description
// while that is on its way.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "base/clock.h"

namespace orc::detail::multicast {

enum class type_verdict : std::uint8_t {
  matches,  // also: it is untyped, or any type will do
  unknown,  // its samples are not taken yet
  differs   // its samples are dropped
};

// The description of a sender's type, on its way in pieces. They are taken in order: a lost one is asked for again.
struct type_transfer {
  std::string bytes;           // that have come
  std::size_t size = 0;        // of all; 0: not known yet
  std::size_t asked_from = 0;  // offset of the last request
  monotonic::time_point began;
  monotonic::time_point moved;   // when the last piece came
  monotonic::time_point ask_at;  // again
  monotonic::duration ask_every{};

  [[nodiscard]] bool complete() const noexcept { return size != 0 && bytes.size() == size; }
};

struct announced_type {
  std::uint64_t hash = 0;
  type_verdict verdict = type_verdict::matches;
  std::string problem = {};                      // verdict differs: the sentence
  std::unique_ptr<type_transfer> transfer = {};  // verdict unknown, and it is this sender's turn
  monotonic::time_point next_turn = {};          // for a transfer, not before
  monotonic::duration pause{};                   // after the last turn
};

}  // namespace orc::detail::multicast
