// One encoding of one type: what decoder and from_json() are made of.
#pragma once

#include <cstddef>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string_view>
#include <vector>

#include "encode_state.h"
#include "orc/result.h"
#include "orc/type_description.h"
#include "orc/types/field_path.h"
#include "walk_state.h"

namespace orc::types::detail {

using byte_span = std::span<const std::byte>;
using path_parts = std::span<const field_path::part>;

// Const functions may be called from any threads.
class codec {
 public:
  codec() = default;
  codec(const codec&) = delete;
  codec& operator=(const codec&) = delete;
  virtual ~codec() = default;

  // The message encoding.
  [[nodiscard]] virtual std::string_view encoding() const noexcept = 0;

  // Visits the value at `path`; all when it is empty. Texts and numbers that are not views of the sample live until the
  // visitor returns. Returns false when it ended early: the state has the error, if it is one.
  virtual bool walk(byte_span sample, path_parts path, walk_state& state) const = 0;

  // Looks the names of a path up in the schema, and fills in their indices. `info` is of the last field.
  virtual result bind(std::vector<field_path::part>& parts, field_info& info) const = 0;

  // Appends the sample to the state's bytes. Returns false when the JSON does not fit; the state has the error.
  virtual bool encode(const nlohmann::json& from, encode_state& state) const = 0;
};

// What each encoding's file has. `made` is untouched unless the result is ok. The description outlives the codec.
result make_struct_codec(const type_description& type, std::unique_ptr<codec>& made);
result make_sequential_codec(const type_description& type, std::unique_ptr<codec>& made);  // lcm, cdr
result make_flatbuffer_codec(const type_description& type, std::unique_ptr<codec>& made);
result make_protobuf_codec(const type_description& type, std::unique_ptr<codec>& made);
result make_json_codec(const type_description& type, std::unique_ptr<codec>& made);

// The messages of bind().
result no_such_field(std::string_view structure, std::string_view name, const name_list& fields);
result not_a_structure(std::string_view before, std::string_view name);
result not_an_array(std::string_view before);
result index_too_large(std::string_view before, std::size_t index, std::size_t size);

}  // namespace orc::types::detail
