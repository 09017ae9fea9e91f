// Builds a FlatBuffer from JSON.
#pragma once

#include <flatbuffers/flatbuffers.h>

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <vector>

#include "encode_state.h"
#include "flatbuffer/flatbuffer_schema.h"

namespace orc::types::detail {

class flatbuffer_writer {
 public:
  flatbuffer_writer(const flatbuffer_schema& schema, encode_state& state) : schema_(schema), state_(state) {}

  // Appends the buffer with this root to the state's bytes.
  bool write(const nlohmann::json& from);

 private:
  using offset = flatbuffers::uoffset_t;
  using offsets = std::vector<flatbuffers::Offset<flatbuffers::Table>>;

  bool table(const flat_object& of, const nlohmann::json& from, offset& made);
  // What lies behind an offset: texts, vectors, tables, members of unions.
  bool child(const flat_object& of, const flat_field& field, const nlohmann::json& object, const nlohmann::json& from,
             offset& made);
  bool value(const flat_type& type, const enumeration* names, const nlohmann::json& from, offset& made);
  bool vector(const flat_type& type, const enumeration* names, const nlohmann::json& from, offset& made);
  bool number_vector(const flat_type& type, const enumeration* names, const nlohmann::json& from, offset& made);
  bool struct_vector(const flat_object& of, const nlohmann::json& from, offset& made);
  bool union_vector(const flat_field& field, const nlohmann::json& types, const nlohmann::json& from,
                    const enumeration* names, offset& made);
  bool member(std::size_t index, const nlohmann::json& number, const enumeration* names, const flat_type*& chosen);
  // What lies in the table itself: numbers and structs.
  bool inline_field(const flat_field& field, const nlohmann::json& from);
  bool fill_struct(const flat_object& of, const nlohmann::json& from, std::byte* to);
  bool fill_array(const flat_field& field, const nlohmann::json& from, std::byte* to);
  bool check_names(const flat_object& of, const nlohmann::json& from);
  bool reserve(std::size_t bytes);
  void push(std::span<const std::byte> bytes, std::size_t alignment);

  const flatbuffer_schema& schema_;
  encode_state& state_;
  flatbuffers::FlatBufferBuilder builder_;
};

}  // namespace orc::types::detail
