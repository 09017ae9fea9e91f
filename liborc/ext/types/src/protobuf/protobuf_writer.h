// Fills a Protobuf message from JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "encode_state.h"
#include "protobuf/protobuf_schema.h"

namespace orc::types::detail {

class protobuf_writer {
 public:
  protobuf_writer(const protobuf_schema& schema, encode_state& state) : schema_(schema), state_(state) {}

  // Appends the message to the state's bytes.
  bool write(const nlohmann::json& from);

 private:
  bool message(const nlohmann::json& from, pb::Message& to);
  bool field(const nlohmann::json& from, const pb::FieldDescriptor& of, pb::Message& to);
  bool map(const nlohmann::json& from, const pb::FieldDescriptor& of, pb::Message& to);
  // Sets the field, or adds to the array.
  bool value(const nlohmann::json& from, const pb::FieldDescriptor& of, pb::Message& to);
  bool bytes(const nlohmann::json& from, std::string& to);
  bool key(const std::string& name, const pb::FieldDescriptor& of, pb::Message& to);

  const protobuf_schema& schema_;
  encode_state& state_;
};

}  // namespace orc::types::detail
