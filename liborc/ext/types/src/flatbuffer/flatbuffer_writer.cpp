#include "flatbuffer/flatbuffer_writer.h"

#include <bit>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string>

namespace orc::types::detail {
namespace {

using nlohmann::json;

constexpr bool writes_swapped = std::endian::native == std::endian::big;

const json& member_of(const json& object, std::string_view name) {
  static const json none;
  const auto found = object.find(std::string(name));
  return found == object.end() ? none : *found;
}

// FlatBuffers 23 wants the alignment too.
template <class Builder>
void start_vector(Builder& builder, std::size_t count, std::size_t alignment) {
  if constexpr (requires { builder.StartVector(count, alignment, alignment); }) {
    builder.StartVector(count, alignment, alignment);
  } else {
    builder.StartVector(count, alignment);
  }
}

bool is_default(const flat_field& field, const std::byte* bytes) {
  if (field.optional) return false;
  const std::size_t one = 1;
  const number_array number(field.type.number, {bytes, size_of(field.type.number)}, {&one, 1}, writes_swapped);
  if (field.type.number == field_kind::float64) return number.at<double>(0) == field.default_real;
  if (field.type.number == field_kind::float32) return number.at<float>(0) == static_cast<float>(field.default_real);
  return number.at<std::int64_t>(0) == field.default_integer;
}

}  // namespace

bool flatbuffer_writer::reserve(std::size_t bytes) {
  if (bytes <= state_.max_bytes() - std::min<std::size_t>(builder_.GetSize(), state_.max_bytes())) return true;
  return state_.too_large();
}

void flatbuffer_writer::push(std::span<const std::byte> bytes, std::size_t alignment) {
  builder_.Align(alignment);
  if (!bytes.empty()) builder_.PushBytes(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
}

bool flatbuffer_writer::write(const json& from) {
  offset root = 0;
  if (!table(schema_.root(), from.is_null() ? json::object() : from, root)) return false;
  const std::string identifier(schema_.identifier());
  builder_.Finish(flatbuffers::Offset<flatbuffers::Table>(root), identifier.empty() ? nullptr : identifier.c_str());
  std::size_t at = 0;
  if (!state_.grow(builder_.GetSize(), at)) return false;
  std::memcpy(state_.bytes.data() + at, builder_.GetBufferPointer(), builder_.GetSize());
  return true;
}

bool flatbuffer_writer::check_names(const flat_object& of, const json& from) {
  for (const auto& [name, element] : from.items()) {
    const auto found = of.by_name.find(name);
    if (found != of.by_name.end() && !of.fields[found->second].deprecated) continue;
    return state_.fail("has no field `" + shown(name) + "`; its fields are " + schema_.names_of(of).text());
  }
  return true;
}

bool flatbuffer_writer::table(const flat_object& of, const json& from, offset& made) {
  if (!state_.enter() || !expect_object(from, state_) || !check_names(of, from) || !reserve(64)) return false;
  struct child_field {
    const flat_field* field;
    offset at;
  };
  std::vector<child_field> children;
  for (const auto& field : of.fields) {
    const json& value = member_of(from, field.info.name);
    state_.here.push(field.info.name);
    if (value.is_null() && field.required && !field.deprecated) return state_.fail("is required");
    if (!value.is_null() && field.type.far) return state_.fail("has an offset of 64 bits, which cannot be written");
    const bool offset_field = field.type.kind != flat_kind::number && schema_.bytes_of(field.type) == 4 &&
                              !(field.type.kind == flat_kind::object && schema_.object(field.type.index).is_struct);
    if (!value.is_null() && offset_field) {
      child_field each{&field, 0};
      if (!child(of, field, from, value, each.at)) return false;
      if (each.at != 0) children.push_back(each);
    }
    state_.here.pop();
  }
  const offset start = builder_.StartTable();
  for (const auto& each : children) {
    builder_.AddOffset(static_cast<flatbuffers::voffset_t>(each.field->slot),
                       flatbuffers::Offset<flatbuffers::Table>(each.at));
  }
  for (const auto& field : of.fields) {
    const json& value = member_of(from, field.info.name);
    const bool number = field.type.kind == flat_kind::number;
    const bool is_struct = field.type.kind == flat_kind::object && schema_.object(field.type.index).is_struct;
    if (value.is_null() || !(number || is_struct)) continue;
    state_.here.push(field.info.name);
    if (!inline_field(field, value)) return false;
    state_.here.pop();
  }
  made = builder_.EndTable(start);
  state_.leave();
  return true;
}

bool flatbuffer_writer::inline_field(const flat_field& field, const json& from) {
  std::size_t alignment = size_of(field.type.number);
  std::vector<std::byte> bytes(schema_.bytes_of(field.type));
  if (field.type.kind == flat_kind::number) {
    if (!encode_number(from, field.type.number, field.info.names, writes_swapped, bytes.data(), state_)) return false;
    if (is_default(field, bytes.data())) return true;
  } else {
    const flat_object& object = schema_.object(field.type.index);
    alignment = object.alignment;
    if (!reserve(object.bytes) || !fill_struct(object, from, bytes.data())) return false;
  }
  push(bytes, alignment);
  builder_.TrackField(static_cast<flatbuffers::voffset_t>(field.slot), builder_.GetSize());
  return true;
}

bool flatbuffer_writer::fill_struct(const flat_object& of, const json& from, std::byte* to) {
  if (from.is_null()) return true;
  if (!state_.enter() || !expect_object(from, state_) || !check_names(of, from)) return false;
  for (const auto& field : of.fields) {
    const json& value = member_of(from, field.info.name);
    if (value.is_null()) continue;
    state_.here.push(field.info.name);
    std::byte* at = to + field.slot;
    bool done = false;
    if (field.type.kind == flat_kind::number) {
      done = encode_number(value, field.type.number, field.info.names, writes_swapped, at, state_);
    } else if (field.type.kind == flat_kind::object) {
      done = fill_struct(schema_.object(field.type.index), value, at);
    } else {
      done = fill_array(field, value, at);
    }
    if (!done) return false;
    state_.here.pop();
  }
  state_.leave();
  return true;
}

bool flatbuffer_writer::fill_array(const flat_field& field, const json& from, std::byte* to) {
  const std::size_t size = field.type.fixed_size;
  if (field.type.element == flat_kind::number) {
    return encode_numbers(from, {&size, 1}, field.type.number, field.info.names, writes_swapped, to, state_);
  }
  if (!expect_array(from, size, state_)) return false;
  const flat_object& object = schema_.object(field.type.index);
  for (std::size_t i = 0; i < size; ++i) {
    state_.here.push(i);
    if (!fill_struct(object, from[i], to + i * object.bytes)) return false;
    state_.here.pop();
  }
  return true;
}

bool flatbuffer_writer::child(const flat_object& of, const flat_field& field, const json& object, const json& from,
                              offset& made) {
  const flat_field& type_field = of.fields[field.union_type];
  if (field.type.kind == flat_kind::flat_union) {
    const flat_type* chosen = nullptr;
    const json& number = member_of(object, type_field.info.name);
    return member(field.type.index, number, type_field.info.names, chosen) && value(*chosen, nullptr, from, made);
  }
  if (field.type.kind == flat_kind::vector && field.type.element == flat_kind::flat_union) {
    return union_vector(field, member_of(object, type_field.info.name), from, type_field.info.names, made);
  }
  return value(field.type, field.info.names, from, made);
}

bool flatbuffer_writer::member(std::size_t index, const json& number, const enumeration* names,
                               const flat_type*& chosen) {
  std::uint64_t wanted = 0;
  if (!encode_integer(number, 0, UINT8_MAX, names, wanted, state_)) return false;
  chosen = schema_.member(index, static_cast<std::int64_t>(wanted));
  return chosen != nullptr || state_.fail("is a union; the field beside it with `_type` must name its member");
}

bool flatbuffer_writer::value(const flat_type& type, const enumeration* names, const json& from, offset& made) {
  std::string_view text;
  switch (type.kind) {
    case flat_kind::text:
      if (!encode_text(from, text, state_) || !reserve(text.size())) return false;
      made = builder_.CreateString(text.data(), text.size()).o;
      return true;
    case flat_kind::vector: return vector(type, names, from, made);
    case flat_kind::object: {
      const flat_object& object = schema_.object(type.index);
      if (!object.is_struct) return table(object, from, made);
      std::vector<std::byte> bytes(object.bytes);
      if (!reserve(object.bytes) || !fill_struct(object, from, bytes.data())) return false;
      push(bytes, object.alignment);
      made = builder_.GetSize();
      return true;
    }
    default: return state_.fail("is of a kind that cannot be written");
  }
}

bool flatbuffer_writer::vector(const flat_type& type, const enumeration* names, const json& from, offset& made) {
  if (!expect_array(from, any_size, state_) || !reserve(8 * from.size())) return false;
  if (type.element == flat_kind::number) return number_vector(type, names, from, made);
  if (type.element == flat_kind::object && schema_.object(type.index).is_struct) {
    return struct_vector(schema_.object(type.index), from, made);
  }
  offsets elements;
  elements.reserve(from.size());
  for (std::size_t i = 0; i < from.size(); ++i) {
    offset each = 0;
    state_.here.push(i);
    if (!value(type.of_element(), names, from[i], each)) return false;
    state_.here.pop();
    elements.emplace_back(each);
  }
  made = builder_.CreateVector(elements.data(), elements.size()).o;
  return true;
}

bool flatbuffer_writer::number_vector(const flat_type& type, const enumeration* names, const json& from, offset& made) {
  const std::size_t count = from.size();
  const std::size_t size = size_of(type.number);
  std::vector<std::byte> bytes(count * size);
  if (!encode_numbers(from, {&count, 1}, type.number, names, writes_swapped, bytes.data(), state_)) return false;
  start_vector(builder_, count, size);
  if (count > 0) push(bytes, 1);
  made = builder_.EndVector(count);
  return true;
}

bool flatbuffer_writer::struct_vector(const flat_object& of, const json& from, offset& made) {
  const std::size_t count = from.size();
  if (of.bytes != 0 && count > state_.max_bytes() / of.bytes) return state_.too_large();
  if (!reserve(count * of.bytes)) return false;
  std::vector<std::byte> bytes(count * of.bytes);
  for (std::size_t i = 0; i < count; ++i) {
    state_.here.push(i);
    if (!fill_struct(of, from[i], bytes.data() + i * of.bytes)) return false;
    state_.here.pop();
  }
  start_vector(builder_, bytes.size() / of.alignment, of.alignment);
  if (!bytes.empty()) push(bytes, 1);
  made = builder_.EndVector(count);
  return true;
}

bool flatbuffer_writer::union_vector(const flat_field& field, const json& types, const json& from,
                                     const enumeration* names, offset& made) {
  if (!expect_array(from, any_size, state_)) return false;
  if (!types.is_array() || types.size() != from.size()) {
    return state_.fail("is an array of unions; the field beside it with `_type` must name as many members");
  }
  offsets elements;
  for (std::size_t i = 0; i < from.size(); ++i) {
    const flat_type* chosen = nullptr;
    offset each = 0;
    state_.here.push(i);
    if (!member(field.type.index, types[i], names, chosen) || !value(*chosen, nullptr, from[i], each)) return false;
    state_.here.pop();
    elements.emplace_back(each);
  }
  made = builder_.CreateVector(elements.data(), elements.size()).o;
  return true;
}

}  // namespace orc::types::detail
