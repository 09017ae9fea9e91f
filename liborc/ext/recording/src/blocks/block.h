// A piece of a recording that is read at once: a chunk of MCAP, or a run of records outside of chunks. A reader knows
// of each what it needs to choose and order them, and no more.
#pragma once

#include <compare>
#include <cstdint>
#include <vector>

#include "bytes/byte_buffer.h"
#include "orc/recording/sample.h"

namespace orc::recording::detail {

struct block {
  std::uint64_t offset = 0;  // of its bytes in the file
  std::uint64_t length = 0;
  std::int64_t first = 0;  // times of its samples; what the file claims
  std::int64_t last = 0;
  std::vector<channel_id> channels = {};  // with samples here, ascending; empty: not known, as it is broken
  bool is_chunk = false;
};

// A sample of a loaded block.
struct block_entry {
  std::int64_t time = 0;
  std::uint32_t offset = 0;  // of its record in the block's data
  channel_id channel = 0;
};

// The content of a block.
struct block_content {
  byte_buffer data = {};
  std::vector<block_entry> entries = {};  // in the order of time, then of the file
};

// The place of a sample in the order of a file.
struct sample_place {
  std::int64_t time = 0;
  std::uint64_t block = 0;   // its offset
  std::uint64_t offset = 0;  // in the block

  auto operator<=>(const sample_place&) const = default;
};

}  // namespace orc::recording::detail
