// Checks the bytes of a Protobuf message before it is parsed.
#pragma once

#include <cstddef>
#include <string_view>

#include "protobuf/protobuf_schema.h"

namespace orc::types::detail {

// Parsing takes memory for each message and text, however short: the scan bounds it, and finds the place of an error,
// which the parser does not tell.
class protobuf_scan {
 public:
  protobuf_scan(const protobuf_schema& schema, byte_span sample, walk_state& state)
      : schema_(schema), sample_(sample), state_(state), memory_left_(max_visited_bytes + 4 * sample.size()) {}

  // Returns false after an error; the state has it.
  bool run() { return message(schema_.root(), sample_.size(), 0); }

 private:
  // Fields up to `end`, or to the end of this group (0: no group).
  bool message(const pb::Descriptor& type, std::size_t end, std::uint32_t group);
  bool unknown_group(std::size_t end, std::uint32_t group);
  bool value(const pb::FieldDescriptor* field, std::uint32_t wire, std::uint32_t number, std::size_t end);
  bool delimited(const pb::FieldDescriptor* field, std::size_t end);
  bool varint(std::size_t end, std::uint64_t& number);
  bool skip(std::size_t bytes, std::size_t end);
  bool spend(std::size_t bytes);

  const protobuf_schema& schema_;
  byte_span sample_;
  walk_state& state_;
  std::size_t at_ = 0;
  std::size_t memory_left_;
};

}  // namespace orc::types::detail
