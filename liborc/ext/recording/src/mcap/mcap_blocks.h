// Loads pieces of an MCAP file: chunks, and runs of messages outside of chunks.
#pragma once

#include <cstdint>
#include <string>

#include "blocks/block.h"
#include "files/input_file.h"
#include "mcap/mcap_catalog.h"
#include "mcap/mcap_records.h"

namespace orc::recording::detail {

// What is in the file where a record begins.
struct record_place {
  opcode code = {};
  std::uint64_t offset = 0;  // of the record
  std::uint64_t length = 0;  // with its head
  bool says_other = false;   // the record's own length is another one, and wrong
};

class mcap_blocks {
 public:
  mcap_blocks(const input_file& file, mcap_catalog& catalog) noexcept : file_(file), catalog_(catalog) {}

  // Loads a chunk record or a run, checks it, and finds its samples, in the order of the file. Channels and schemas in
  // it go to the catalog. An error says where the file is broken.
  result load(const block& which, block_content& to);
  // The fields of the chunk record there.
  result chunk_head(std::uint64_t offset, std::uint64_t length, chunk_record& head, std::uint64_t& data_offset,
                    std::string& compression);

 private:
  result load_chunk(const block& which, block_content& to);
  result find_samples(const block& which, block_content& to);

  const input_file& file_;
  mcap_catalog& catalog_;
  byte_buffer compressed_;
};

}  // namespace orc::recording::detail
