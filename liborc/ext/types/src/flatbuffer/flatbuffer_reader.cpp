#include "flatbuffer/flatbuffer_reader.h"

#include <bit>

#include "sequential/scalar.h"
#include "sequential/sequential_format.h"

namespace orc::types::detail {
namespace {

constexpr bool swapped = std::endian::native == std::endian::big;

template <class T>
T load(byte_span sample, std::size_t at) {
  return load_ordered<T>(sample.data() + at, false);
}

}  // namespace

bool flatbuffer_reader::need(std::size_t at, std::size_t bytes) {
  if (at <= sample_.size() && bytes <= sample_.size() - at) return true;
  return state_.fail(at,
                     "needs " + std::to_string(bytes) + " bytes, the sample ends at " + std::to_string(sample_.size()));
}

bool flatbuffer_reader::follow(std::size_t at, std::size_t& target, bool far) {
  if (!need(at, far ? 8 : 4)) return false;
  const auto offset = far ? load<std::uint64_t>(sample_, at) : load<std::uint32_t>(sample_, at);
  if (offset == 0) return state_.fail(at, "is an offset to itself");
  if (offset > sample_.size()) return state_.fail(at, "is an offset that leads out of the sample");
  target = at + offset;
  return need(target, 4);
}

bool flatbuffer_reader::open_table(std::size_t at, table& opened) {
  if (!need(at, 4)) return false;
  const auto vtable = static_cast<std::int64_t>(at) - static_cast<std::int32_t>(load<std::uint32_t>(sample_, at));
  if (vtable < 0) return state_.fail(at, "is a table with a vtable outside of the sample");
  opened.at = at;
  opened.vtable = static_cast<std::size_t>(vtable);
  if (!need(opened.vtable, 4)) return false;
  opened.vtable_bytes = load<std::uint16_t>(sample_, opened.vtable);
  opened.bytes = load<std::uint16_t>(sample_, opened.vtable + 2);
  if (opened.vtable_bytes < 4) return state_.fail(opened.vtable, "is a table with a vtable of fewer than 4 bytes");
  return need(opened.vtable, opened.vtable_bytes) && need(at, opened.bytes);
}

std::size_t flatbuffer_reader::table_slot(const table& of, const flat_field& field) const noexcept {
  return field.slot + 2 <= of.vtable_bytes ? load<std::uint16_t>(sample_, of.vtable + field.slot) : 0;
}

bool flatbuffer_reader::find_field(const flat_object& of, std::size_t at, const flat_field& field, const table& opened,
                                   place& found) {
  found = {&field, field.type, 0};
  if (of.is_struct) {  // its caller knows that the sample has all of the struct
    found.at = at + field.slot;
    return true;
  }
  const std::size_t offset = table_slot(opened, field);
  if (offset == 0) return true;
  const std::size_t bytes = schema_.bytes_of(field.type);
  if (offset < 4 || bytes > opened.bytes || offset > opened.bytes - bytes) {
    return state_.fail(opened.vtable, "does not lie in its table");
  }
  found.at = opened.at + offset;
  return choose_member(of, opened, found);
}

// A union becomes its member; one of an unknown type is absent.
bool flatbuffer_reader::choose_member(const flat_object& of, const table& opened, place& found) {
  const bool vector = found.type.kind == flat_kind::vector && found.type.element == flat_kind::flat_union;
  if (found.type.kind != flat_kind::flat_union && !vector) return true;
  const flat_field& type_field = of.fields[found.field->union_type];
  const std::size_t offset = table_slot(opened, type_field);
  const std::size_t bytes = vector ? 4 : 1;
  if (offset < 4 || bytes > opened.bytes || offset > opened.bytes - bytes) {
    found.at = 0;
    return true;
  }
  if (vector) {
    union_types_ = opened.at + offset;
    return true;
  }
  const flat_type* member = schema_.member(found.type.index, load<std::uint8_t>(sample_, opened.at + offset));
  if (!member) {
    found.at = 0;
    return true;
  }
  found.type = *member;
  return true;
}

bool flatbuffer_reader::walk(path_parts path) {
  std::size_t root = 0;
  if (!follow(0, root)) return false;
  if (path.empty()) return walk_object(schema_.root(), root);
  place here;
  here.type = {flat_kind::object, field_kind::uint8, flat_kind::number, 0, 0, false};
  const flat_object* object = &schema_.root();
  std::size_t at = root;
  for (const auto& part : path) {
    if (part.element) {
      state_.here.push(part.index);
      if (!step_to_element(here, part.index)) return false;
    } else {
      state_.here.push(part.name);
      if (!object) return state_.fail(here.at, "is no field: what is before it has none");
      if (!step_into(*object, at, part, here)) return false;
    }
    const bool last = &part == &path.back();
    if (here.at == 0) return !last || walk_default(*here.field);
    object = nullptr;
    if (here.type.kind != flat_kind::object || last) continue;
    object = &schema_.object(here.type.index);
    at = here.at;
    if ((!object->is_struct || here.type.boxed) && !follow(here.at, at)) return false;
    if (object->is_struct && !need(at, object->bytes)) return false;
  }
  return walk_value(here);
}

bool flatbuffer_reader::step_into(const flat_object& of, std::size_t at, const field_path::part& part, place& found) {
  std::size_t index = part.field;
  if (index == unknown_field) {  // within a union
    const auto named = of.by_name.find(part.name);
    if (named == of.by_name.end()) {
      found.at = 0;
      static const flat_field none = [] {
        flat_field field;
        field.optional = true;
        return field;
      }();
      found.field = &none;
      return true;
    }
    index = named->second;
  }
  table opened;
  if (!of.is_struct && !open_table(at, opened)) return false;
  return find_field(of, at, of.fields[index], opened, found);
}

bool flatbuffer_reader::open_array(const place& what, std::size_t& at, std::size_t& count) {
  at = what.at;
  const std::size_t bytes = schema_.bytes_of(what.type.of_element());
  if (what.type.kind == flat_kind::vector) return open_vector(at, bytes, count, what.type.far, what.type.wide);
  count = what.type.fixed_size;
  return need(at, count * bytes);
}

bool flatbuffer_reader::step_to_element(place& what, std::size_t index) {
  if (what.type.kind != flat_kind::vector && what.type.kind != flat_kind::array) {
    return state_.fail(what.at, "is no element: what is before it is no array");
  }
  std::size_t at = 0;
  std::size_t count = 0;
  if (!open_array(what, at, count)) return false;
  if (index >= count) return state_.fail(what.at, "is beyond the end of an array of " + std::to_string(count));
  const flat_type element = what.type.of_element();
  what.at = at + index * schema_.bytes_of(element);
  what.type = element;
  if (element.kind != flat_kind::flat_union) return true;
  std::size_t types = union_types_;
  std::size_t type_count = 0;
  if (!open_vector(types, 1, type_count)) return false;
  const flat_type* member =
      index < type_count ? schema_.member(element.index, load<std::uint8_t>(sample_, types + index)) : nullptr;
  if (!member) return state_.fail(what.at, "is of an unknown type");
  what.type = *member;
  return true;
}

bool flatbuffer_reader::walk_object(const flat_object& of, std::size_t at) {
  table opened;
  if (!state_.enter(at) || !state_.spend(1, at)) return false;
  if (of.is_struct ? !need(at, of.bytes) : !open_table(at, opened)) return false;
  state_.to.begin_structure();
  for (const auto& field : of.fields) {
    if (field.deprecated) continue;
    state_.here.push(field.info.name);
    place found;
    if (!state_.spend(1, at) || !find_field(of, at, field, opened, found)) return false;
    const bool has_default = field.type.kind == flat_kind::number && !field.optional;
    if (found.at != 0 || has_default) {
      const std::size_t types = union_types_;
      const step answer = state_.to.field(field.info);
      if (answer == step::stop) return false;
      union_types_ = types;
      if (answer == step::enter && !(found.at != 0 ? walk_value(found) : walk_default(field))) return false;
    }
    state_.here.pop();
  }
  state_.to.end_structure();
  state_.leave();
  return true;
}

bool flatbuffer_reader::walk_default(const flat_field& of) {
  if (of.type.kind != flat_kind::number || of.optional) return true;
  switch (of.type.number) {
    case field_kind::boolean: state_.to.boolean(of.default_integer != 0); break;
    case field_kind::float32: state_.to.float32(static_cast<float>(of.default_real)); break;
    case field_kind::float64: state_.to.float64(of.default_real); break;
    case field_kind::uint8:
    case field_kind::uint16:
    case field_kind::uint32:
    case field_kind::uint64: state_.to.unsigned_integer(static_cast<std::uint64_t>(of.default_integer)); break;
    default: state_.to.signed_integer(of.default_integer); break;
  }
  return true;
}

bool flatbuffer_reader::walk_value(const place& what) {
  std::size_t at = what.at;
  switch (what.type.kind) {
    case flat_kind::number:
      if (!need(at, size_of(what.type.number))) return false;
      visit_number(what.type.number, sample_.data() + at, swapped, state_.to);
      return true;
    case flat_kind::text: return walk_text(at, what.type.far);
    case flat_kind::vector:
    case flat_kind::array: return walk_vector(what);
    case flat_kind::object: {
      const flat_object& object = schema_.object(what.type.index);
      if ((!object.is_struct || what.type.boxed) && !follow(what.at, at)) return false;
      return walk_object(object, at);
    }
    default: return state_.fail(at, "is of an unknown type");
  }
}

bool flatbuffer_reader::walk_text(std::size_t at, bool far) {
  std::size_t count = 0;
  if (!open_vector(at, 1, count, far) || !state_.spend_bytes(count, at)) return false;
  state_.to.text(text_of(sample_.subspan(at, count)));
  return true;
}

bool flatbuffer_reader::open_vector(std::size_t& at, std::size_t element_bytes, std::size_t& count, bool far,
                                    bool wide) {
  std::size_t target = 0;
  const std::size_t length_bytes = wide ? 8 : 4;
  if (!follow(at, target, far) || !need(target, length_bytes)) return false;
  count = wide ? load<std::uint64_t>(sample_, target) : load<std::uint32_t>(sample_, target);
  at = target + length_bytes;
  if (element_bytes != 0 && count > (sample_.size() - at) / element_bytes) {
    return state_.fail(target, "has " + std::to_string(count) + " elements of " + std::to_string(element_bytes) +
                                   " bytes, the sample has " + std::to_string(sample_.size() - at) + " more bytes");
  }
  return true;
}

bool flatbuffer_reader::walk_vector(const place& what) {
  std::size_t at = 0;
  std::size_t count = 0;
  std::size_t types = 0;
  std::size_t type_count = 0;
  if (what.type.element == flat_kind::flat_union) {
    types = union_types_;
    if (!open_vector(types, 1, type_count)) return false;
  }
  if (!open_array(what, at, count)) return false;
  if (what.type.element == flat_kind::number) return walk_numbers(what, at, count);
  if (types != 0 && type_count != count) return state_.fail(what.at, "has more or fewer types than elements");
  return walk_elements(what, at, count, types);
}

bool flatbuffer_reader::walk_numbers(const place& what, std::size_t at, std::size_t count) {
  const std::size_t bytes = count * size_of(what.type.number);
  if (!state_.spend_bytes(bytes, at)) return false;
  return state_.to.numbers({what.type.number, sample_.subspan(at, bytes), {&count, 1}, swapped}) != step::stop;
}

bool flatbuffer_reader::walk_elements(const place& what, std::size_t at, std::size_t count, std::size_t types) {
  if (!state_.spend(count, at) || !state_.enter(at)) return false;
  const step answer = state_.to.begin_array(count);
  if (answer == step::stop) return false;
  if (answer == step::enter) {
    place element{what.field, what.type.of_element(), at};
    const std::size_t stride = schema_.bytes_of(element.type);
    for (std::size_t i = 0; i < count; ++i, element.at += stride) {
      state_.here.push(i);
      if (types != 0) {
        const flat_type* member = schema_.member(what.type.index, load<std::uint8_t>(sample_, types + i));
        if (!member) return state_.fail(types + i, "is of an unknown type");
        element.type = *member;
      }
      if (!walk_value(element)) return false;
      state_.here.pop();
    }
    state_.to.end_array();
  }
  state_.leave();
  return true;
}

}  // namespace orc::types::detail
