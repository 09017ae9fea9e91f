#include "sequential/schema_types.h"

#include <nlohmann/json.hpp>

namespace orc::types::detail {
namespace {

result bad_schema(const schema_structure& in, std::string_view field, std::string_view what) {
  std::string text = "schema: field `" + shown(field) + "` of `" + shown(in.name) + "` ";
  text += what;
  return {errc::bad_argument, std::move(text)};
}

name_list names_of(const typed_structure& structure) {
  name_list list;
  for (const auto& each : structure.fields) list.add(each.info.name);
  return list;
}

}  // namespace

result schema_types::make(const type_description& type) {
  if (result parsed = parse_schema(type, schema_); !parsed) return parsed;
  if (schema_.structures.empty()) return {errc::bad_argument, "the schema has no structure"};
  const bool with_offsets = type.message_encoding == "struct";
  structures_.resize(schema_.structures.size());
  for (std::size_t i = 0; i < structures_.size(); ++i) {
    if (result done = prepare(schema_.structures[i], structures_[i], with_offsets); !done) return done;
  }
  return {};
}

result schema_types::prepare(const schema_structure& from, typed_structure& to, bool with_offsets) {
  to.declared = &from;
  to.fields.reserve(from.fields.size());
  for (const schema_field& each : from.fields) {
    typed_field field;
    field.declared = &each;
    field.info = {each.name, each.unit, each.comment, nullptr};
    if (!each.values.empty()) {
      std::vector<enumeration::entry> entries;
      for (const auto& named : each.values) entries.push_back({named.name, named.value});
      field.info.names = &enumerations_.emplace_back(std::move(entries));
    }
    for (const auto& dimension : each.dimensions) {
      field.shape.push_back(dimension.size);
      field.variable = field.variable || dimension.variable;
    }
    if (each.dimensions.size() > max_depth) return bad_schema(from, each.name, "has too many dimensions");
    if (each.kind == field_kind::structure && each.structure >= schema_.structures.size()) {
      return bad_schema(from, each.name, "is of an unknown structure");
    }
    field.element_bytes = each.kind == field_kind::character ? 1 : size_of(each.kind);
    if (with_offsets) {
      if (result inside = check_place(from, field); !inside) return inside;
    }
    to.by_name.emplace(each.name, to.fields.size());
    to.fields.push_back(std::move(field));
  }
  return prepare_lengths(to);
}

result schema_types::prepare_lengths(typed_structure& to) {
  for (std::size_t i = 0; i < to.fields.size(); ++i) {
    typed_field& field = to.fields[i];
    for (const auto& dimension : field.declared->dimensions) {
      std::size_t slot = typed_field::no_slot;
      if (dimension.variable && !dimension.length.empty()) {
        const auto found = to.by_name.find(dimension.length);
        if (found == to.by_name.end() || found->second >= i) {
          return bad_schema(*to.declared, field.info.name, "has a length that is no field before it");
        }
        typed_field& length = to.fields[found->second];
        const bool integer = length.kind() >= field_kind::int8 && length.kind() <= field_kind::uint64;
        if (!integer || !length.shape.empty()) {
          return bad_schema(*to.declared, field.info.name, "has a length that is no integer");
        }
        if (length.length_slot == typed_field::no_slot) length.length_slot = to.length_slots++;
        slot = length.length_slot;
      }
      field.dimension_slots.push_back(slot);
    }
  }
  return {};
}

result schema_types::check_place(const schema_structure& in, const typed_field& field) const {
  const schema_field& each = *field.declared;
  std::size_t bytes =
      each.kind == field_kind::structure ? schema_.structures[each.structure].size : field.element_bytes;
  if (field.variable || (bytes == 0 && each.kind != field_kind::structure)) {
    return bad_schema(in, each.name, "has no fixed size");
  }
  for (const std::size_t size : field.shape) {
    if (__builtin_mul_overflow(bytes, size, &bytes)) return bad_schema(in, each.name, "is too large");
  }
  if (each.offset > in.size || bytes > in.size - each.offset) {
    return bad_schema(in, each.name, "does not lie in its structure");
  }
  return {};
}

result schema_types::bind(std::vector<field_path::part>& parts, field_info& info) const {
  std::size_t structure = 0;
  const typed_field* field = nullptr;
  std::size_t dimensions = 0;  // of the field, that the path has given
  std::string before;
  for (auto& part : parts) {
    const std::size_t indexable =
        field ? field->shape.size() - (field->kind() == field_kind::character && !field->shape.empty() ? 1 : 0) : 0;
    if (part.element) {
      if (!field || dimensions >= indexable) return not_an_array(before);
      const std::size_t size = field->shape[dimensions];
      if (!field->declared->dimensions[dimensions].variable && part.index >= size) {
        return index_too_large(before, part.index, size);
      }
      ++dimensions;
      before += "[" + std::to_string(part.index) + "]";
      continue;
    }
    if (field && (field->kind() != field_kind::structure || dimensions < indexable)) {
      return not_a_structure(before, part.name);
    }
    const typed_structure& in = structures_[structure];
    const auto found = in.by_name.find(part.name);
    if (found == in.by_name.end()) return no_such_field(before, part.name, names_of(in));
    part.structure = structure;
    part.field = found->second;
    field = &in.fields[part.field];
    structure = field->declared->structure;
    dimensions = 0;
    info = field->info;
    before += (before.empty() ? "" : ".") + part.name;
  }
  return {};
}

bool check_names(const typed_structure& structure, const nlohmann::json& object, encode_state& state) {
  for (const auto& [name, element] : object.items()) {
    if (structure.by_name.contains(name)) continue;
    return state.fail("has no field `" + shown(name) + "`; its fields are " + names_of(structure).text());
  }
  return true;
}

}  // namespace orc::types::detail
