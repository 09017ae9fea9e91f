// Structs: each field lies at its offset.
#include <bit>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string>

#include "sequential/scalar.h"
#include "sequential/schema_types.h"

namespace orc::types::detail {
namespace {

using nlohmann::json;
using shape_span = std::span<const std::size_t>;

class struct_codec final : public codec {
 public:
  result make(const type_description& type) {
    if (result made = types_.make(type); !made) return made;
    swapped_ = types_.big_endian() != (std::endian::native == std::endian::big);
    return {};
  }

  [[nodiscard]] std::string_view encoding() const noexcept override { return "struct"; }
  bool walk(byte_span sample, path_parts path, walk_state& state) const override;
  result bind(std::vector<field_path::part>& parts, field_info& info) const override {
    return types_.bind(parts, info);
  }
  bool encode(const json& from, encode_state& state) const override;

 private:
  // Bytes of an element behind `shape`, the dimensions that are left.
  [[nodiscard]] std::size_t bytes_of(const typed_field& field, shape_span shape) const noexcept {
    std::size_t bytes = field.kind() == field_kind::structure ? types_.at(field.declared->structure).declared->size
                                                              : field.element_bytes;
    for (const std::size_t each : shape) bytes *= each;
    return bytes;
  }
  bool structure(const typed_structure& of, byte_span sample, std::size_t at, walk_state& state) const;
  bool value(const typed_field& of, shape_span shape, byte_span sample, std::size_t at, walk_state& state) const;
  bool array(const typed_field& of, shape_span shape, byte_span sample, std::size_t at, walk_state& state) const;
  bool encode_structure(const typed_structure& of, const json& from, std::size_t at, encode_state& state) const;
  bool encode_value(const typed_field& of, shape_span shape, const json& from, std::size_t at,
                    encode_state& state) const;

  schema_types types_ = {};
  bool swapped_ = false;
};

bool struct_codec::walk(byte_span sample, path_parts path, walk_state& state) const {
  const std::size_t size = types_.root().declared->size;
  if (sample.size() != size) {
    return state.fail(sample.size(),
                      "has " + std::to_string(sample.size()) + " bytes, the type has " + std::to_string(size));
  }
  const typed_field* field = nullptr;
  shape_span shape = {};
  std::size_t at = 0;
  for (const auto& part : path) {
    if (part.element) {
      shape = shape.subspan(1);
      at += part.index * bytes_of(*field, shape);
      state.here.push(part.index);
    } else {
      field = &types_.at(part.structure).fields[part.field];
      shape = field->shape;
      at += field->declared->offset;
      state.here.push(field->info.name);
    }
  }
  return field ? value(*field, shape, sample, at, state) : structure(types_.root(), sample, at, state);
}

bool struct_codec::structure(const typed_structure& of, byte_span sample, std::size_t at, walk_state& state) const {
  if (!state.enter(at) || !state.spend(1, at)) return false;
  state.to.begin_structure();
  for (const auto& field : of.fields) {
    if (!state.spend(1, at)) return false;
    const step answer = state.to.field(field.info);
    if (answer == step::stop) return false;
    if (answer == step::skip) continue;
    state.here.push(field.info.name);
    if (!value(field, field.shape, sample, at + field.declared->offset, state)) return false;
    state.here.pop();
  }
  state.to.end_structure();
  state.leave();
  return true;
}

bool struct_codec::value(const typed_field& of, shape_span shape, byte_span sample, std::size_t at,
                         walk_state& state) const {
  const std::size_t text_dimensions = of.kind() == field_kind::character ? 1 : 0;
  if (of.is_number() && !shape.empty()) {
    std::size_t outer = 1;
    for (const std::size_t each : shape) {
      if (each == 0) break;
      outer *= each;
    }
    const std::size_t bytes = bytes_of(of, shape);
    if (!state.spend(bytes == 0 ? outer : 0, at) || !state.spend_bytes(bytes, at)) return false;
    return state.to.numbers({of.kind(), sample.subspan(at, bytes), shape, swapped_}) != step::stop;
  }
  if (shape.size() > text_dimensions) return array(of, shape, sample, at, state);
  if (of.kind() == field_kind::structure) return structure(types_.at(of.declared->structure), sample, at, state);
  if (of.kind() == field_kind::character) {
    const std::size_t bytes = bytes_of(of, shape);
    if (!state.spend_bytes(bytes, at)) return false;
    state.to.text(fixed_text(sample.subspan(at, bytes)));
  } else {
    visit_number(of.kind(), sample.data() + at, swapped_, state.to);
  }
  return true;
}

bool struct_codec::array(const typed_field& of, shape_span shape, byte_span sample, std::size_t at,
                         walk_state& state) const {
  if (!state.spend(shape[0], at) || !state.enter(at)) return false;
  const step answer = state.to.begin_array(shape[0]);
  if (answer == step::stop) return false;
  if (answer == step::enter) {
    const std::size_t stride = bytes_of(of, shape.subspan(1));
    for (std::size_t i = 0; i < shape[0]; ++i) {
      state.here.push(i);
      if (!value(of, shape.subspan(1), sample, at + i * stride, state)) return false;
      state.here.pop();
    }
    state.to.end_array();
  }
  state.leave();
  return true;
}

bool struct_codec::encode(const json& from, encode_state& state) const {
  std::size_t at = 0;
  return state.grow(types_.root().declared->size, at) && encode_structure(types_.root(), from, at, state);
}

bool struct_codec::encode_structure(const typed_structure& of, const json& from, std::size_t at,
                                    encode_state& state) const {
  if (from.is_null()) return true;
  if (!state.enter() || !expect_object(from, state) || !check_names(of, from, state)) return false;
  for (const auto& field : of.fields) {
    const auto found = from.find(field.declared->name);
    if (found == from.end()) continue;
    state.here.push(field.info.name);
    if (!encode_value(field, field.shape, *found, at + field.declared->offset, state)) return false;
    state.here.pop();
  }
  state.leave();
  return true;
}

bool struct_codec::encode_value(const typed_field& of, shape_span shape, const json& from, std::size_t at,
                                encode_state& state) const {
  if (from.is_null()) return true;
  std::byte* to = state.bytes.data() + at;
  if (of.is_number()) return encode_numbers(from, shape, of.kind(), of.info.names, swapped_, to, state);
  if (of.kind() == field_kind::character && shape.size() <= 1) {
    std::string_view text;
    return encode_text(from, text, state) && store_fixed_text(text, bytes_of(of, shape), to, state);
  }
  if (shape.empty()) return encode_structure(types_.at(of.declared->structure), from, at, state);
  if (!expect_array(from, shape[0], state)) return false;
  const std::size_t stride = bytes_of(of, shape.subspan(1));
  for (std::size_t i = 0; i < shape[0]; ++i) {
    state.here.push(i);
    if (!encode_value(of, shape.subspan(1), from[i], at + i * stride, state)) return false;
    state.here.pop();
  }
  return true;
}

}  // namespace

result make_struct_codec(const type_description& type, std::unique_ptr<codec>& made) {
  auto codec = std::make_unique<struct_codec>();
  if (result done = codec->make(type); !done) return done;
  made = std::move(codec);
  return {};
}

}  // namespace orc::types::detail
