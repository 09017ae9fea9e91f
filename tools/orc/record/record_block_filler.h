// Fills blocks for the buffer, on the receiving thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "tools/orc/record/record_buffer.h"

namespace orc::cli {

// Hands a block over when it is large or a few milliseconds old. One thread.
class record_block_filler {
 public:
  explicit record_block_filler(record_buffer& to) : to_(to) {}

  void add(record_sample&& one);
  // Hands over what is old enough. Returns for how many ms the thread may wait then; -1: for ever.
  [[nodiscard]] int hand_over_if_due();
  void hand_over();
  // Copies bytes to memory that small samples share.
  [[nodiscard]] std::shared_ptr<const std::byte[]> copy_of(std::span<const std::byte> bytes);

 private:
  record_buffer& to_;
  std::shared_ptr<record_block> open_ = std::make_shared<record_block>();
  std::int64_t since_ns_ = 0;  // CLOCK_MONOTONIC
  std::shared_ptr<std::byte[]> arena_;
  std::size_t used_ = 0;
};

}  // namespace orc::cli
