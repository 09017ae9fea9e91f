#include "sequential/sequential_writer.h"

#include <cstring>
#include <nlohmann/json.hpp>

#include "json/utf8.h"
#include "sequential/scalar.h"

namespace orc::types::detail {
namespace {

using nlohmann::json;

const json& null() {
  static const json none;
  return none;
}

const json& member(const json& object, const std::string& name) {
  if (!object.is_object()) return null();
  const auto found = object.find(name);
  return found == object.end() ? null() : *found;
}

}  // namespace

bool sequential_writer::align(std::size_t size) {
  std::size_t at = 0;
  return state_.grow(padding(format_, state_.bytes.size() - start_, size), at);
}

bool sequential_writer::count(std::size_t number) {
  std::size_t at = 0;
  if (number > UINT32_MAX) return state_.fail("has too many elements");
  if (!align(4) || !state_.grow(4, at)) return false;
  store_ordered(static_cast<std::uint32_t>(number), format_.big_endian, state_.bytes.data() + at);
  return true;
}

bool sequential_writer::structure(const typed_structure& of, const json& from) {
  if (!state_.enter() || !state_.spend(1)) return false;
  if (!from.is_null() && (!expect_object(from, state_) || !check_names(of, from, state_))) return false;
  lengths known;
  if (of.length_slots > 0 && !collect_lengths(of, from, known)) return false;
  for (const auto& each : of.fields) {
    state_.here.push(each.info.name);
    if (!field(each, member(from, each.declared->name), known)) return false;
    state_.here.pop();
  }
  std::size_t at = 0;
  if (format_.cdr && of.fields.empty() && !state_.grow(1, at)) return false;
  state_.leave();
  return true;
}

// Arrays of the same length must agree, with each other and with the field if it is given.
bool sequential_writer::collect_lengths(const typed_structure& of, const json& from, lengths& known) {
  for (const auto& each : of.fields) {
    const json& value = member(from, each.declared->name);
    if (value.is_null()) continue;
    state_.here.push(each.info.name);
    if (each.length_slot != typed_field::no_slot) {
      std::uint64_t number = 0;
      if (!encode_integer(value, 0, INT64_MAX, nullptr, number, state_)) return false;
      known.emplace(each.length_slot, number);
    }
    const json* dimension = &value;
    for (std::size_t i = 0; i < each.shape.size(); ++i) {
      if (!expect_array(*dimension, any_size, state_)) return false;
      if (const std::size_t slot = each.dimension_slots[i]; slot != typed_field::no_slot) {
        const auto [found, added] = known.emplace(slot, dimension->size());
        if (!added && found->second != dimension->size()) {
          return state_.fail("has " + std::to_string(dimension->size()) + " elements; `" +
                             shown(each.declared->dimensions[i].length) + "` is " + std::to_string(found->second));
        }
      }
      if (dimension->empty()) break;
      dimension = &dimension->front();
    }
    state_.here.pop();
  }
  return true;
}

bool sequential_writer::field(const typed_field& of, const json& from, const lengths& known) {
  if (of.length_slot != typed_field::no_slot) {
    const auto found = known.find(of.length_slot);
    return element(of, found == known.end() ? from : json(found->second));
  }
  if (of.shape.empty()) return element(of, from);
  std::vector<std::size_t> shape = of.shape;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const dimension& declared = of.declared->dimensions[i];
    if (!declared.variable) continue;
    if (const std::size_t slot = of.dimension_slots[i]; slot != typed_field::no_slot) {
      const auto found = known.find(slot);
      shape[i] = found == known.end() ? 0 : static_cast<std::size_t>(found->second);
      continue;
    }
    if (!from.is_null() && !expect_array(from, any_size, state_)) return false;
    shape[i] = from.size();
    if (declared.size != 0 && shape[i] > declared.size) {
      return state_.fail("has " + std::to_string(shape[i]) + " elements; its bound is " +
                         std::to_string(declared.size));
    }
    if (!count(shape[i])) return false;
  }
  return array(of, from, shape, 0);
}

bool sequential_writer::array(const typed_field& of, const json& from, const std::vector<std::size_t>& shape,
                              std::size_t dimension) {
  const std::span<const std::size_t> inner = std::span(shape).subspan(dimension);
  if (of.is_number() || (of.kind() == field_kind::character && inner.size() == 1)) {
    std::size_t bytes = of.element_bytes;
    for (const std::size_t each : inner) {
      if (__builtin_mul_overflow(bytes, each, &bytes)) return state_.too_large();
    }
    std::size_t at = 0;
    if ((bytes != 0 && !align(of.element_bytes)) || !state_.grow(bytes, at)) return false;
    std::byte* to = state_.bytes.data() + at;
    if (of.is_number()) {
      return encode_numbers(from, inner, of.kind(), of.info.names, format_.swapped(), to, state_);
    }
    std::string_view text;
    return encode_text(from, text, state_) && store_fixed_text(text, bytes, to, state_);
  }
  if (!from.is_null() && !expect_array(from, inner[0], state_)) return false;
  if (!state_.spend(inner[0])) return false;
  for (std::size_t i = 0; i < inner[0]; ++i) {
    const json& each = from.is_null() ? null() : from[i];
    state_.here.push(i);
    if (!(inner.size() > 1 ? array(of, each, shape, dimension + 1) : element(of, each))) return false;
    state_.here.pop();
  }
  return true;
}

bool sequential_writer::element(const typed_field& of, const json& from) {
  std::size_t at = 0;
  switch (of.kind()) {
    case field_kind::structure: return structure(types_.at(of.declared->structure), from);
    case field_kind::string: return text(from);
    case field_kind::wide_string: return wide_text(from);
    case field_kind::character: {
      std::string_view text;
      return encode_text(from, text, state_) && state_.grow(1, at) &&
             store_fixed_text(text, 1, state_.bytes.data() + at, state_);
    }
    default: break;
  }
  return align(of.element_bytes) && state_.grow(of.element_bytes, at) &&
         encode_number(from, of.kind(), of.info.names, format_.swapped(), state_.bytes.data() + at, state_);
}

bool sequential_writer::text(const json& from) {
  std::string_view text;
  std::size_t at = 0;
  if (!encode_text(from, text, state_)) return false;
  if (text.find('\0') != text.npos) return state_.fail("holds a zero byte, which ends a text");
  if (!count(text.size() + 1) || !state_.grow(text.size() + 1, at)) return false;
  if (!text.empty()) std::memcpy(state_.bytes.data() + at, text.data(), text.size());
  return true;
}

bool sequential_writer::wide_text(const json& from) {
  std::string_view text;
  if (!encode_text(from, text, state_)) return false;
  std::u16string wide;
  for (std::size_t at = 0; at < text.size();) {
    bool valid = false;
    const std::uint32_t character = next_character(text, at, valid);
    if (character < 0x10000) {
      wide += static_cast<char16_t>(character);
    } else {
      wide += static_cast<char16_t>(0xd800U + ((character - 0x10000U) >> 10U));
      wide += static_cast<char16_t>(0xdc00U + ((character - 0x10000U) & 0x3ffU));
    }
  }
  std::size_t at = 0;
  if (!count(wide.size()) || !state_.grow(2 * wide.size(), at)) return false;
  for (std::size_t i = 0; i < wide.size(); ++i) {
    store_ordered(static_cast<std::uint16_t>(wide[i]), format_.big_endian, state_.bytes.data() + at + 2 * i);
  }
  return true;
}

}  // namespace orc::types::detail
