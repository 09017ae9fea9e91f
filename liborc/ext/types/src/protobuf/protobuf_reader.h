// Walks over a Protobuf message.
#pragma once

#include <string>

#include "protobuf/protobuf_schema.h"

namespace orc::types::detail {

class protobuf_reader {
 public:
  protobuf_reader(const protobuf_schema& schema, walk_state& state) : schema_(schema), state_(state) {}

  // Visits the value at the path. Returns whether the walk goes on.
  bool walk(const pb::Message& root, path_parts path);

 private:
  bool message(const pb::Message& from);
  bool member(const pb::Message& from, const pb::FieldDescriptor& of);
  bool field(const pb::Message& from, const pb::FieldDescriptor& of);
  bool singular(const pb::Message& from, const pb::FieldDescriptor& of);
  bool repeated(const pb::Message& from, const pb::FieldDescriptor& of);
  // One element of an array that is no array of numbers.
  bool element(const pb::Message& from, const pb::FieldDescriptor& of, int index);
  bool number_element(const pb::Message& from, const pb::FieldDescriptor& of, std::size_t index);
  bool map(const pb::Message& from, const pb::FieldDescriptor& of);
  bool number_array_of(const pb::Message& from, const pb::FieldDescriptor& of);
  bool text_or_bytes(const pb::FieldDescriptor& of, const std::string& value);

  const protobuf_schema& schema_;
  walk_state& state_;
};

// The name of a map's entry.
std::string key_of(const pb::Message& entry);

}  // namespace orc::types::detail
