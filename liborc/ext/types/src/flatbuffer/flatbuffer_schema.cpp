#include "flatbuffer/flatbuffer_schema.h"

#include <flatbuffers/reflection.h>

#include <algorithm>
#include <string>

namespace orc::types::detail {
namespace {

// What FlatBuffers 23.5 added to reflection.fbs.
constexpr auto vector64 = static_cast<reflection::BaseType>(18);
constexpr flatbuffers::voffset_t offset64_slot = 4 + 2 * 13;
bool has_offset64(const reflection::Field& field) {
  return reinterpret_cast<const flatbuffers::Table&>(field).GetField<std::uint8_t>(offset64_slot, 0) != 0;
}

result bad_schema(std::string_view what) { return {errc::bad_argument, "flatbuffer schema: " + std::string(what)}; }

result bad_field(const flat_object& object, std::string_view field, std::string_view what) {
  return bad_schema("field `" + shown(field) + "` of `" + shown(object.name) + "` " + std::string(what));
}

std::string_view view(const flatbuffers::String* text) {
  return text ? std::string_view(text->c_str(), text->size()) : std::string_view();
}

std::string_view trimmed(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  return text;
}

bool number_of(reflection::BaseType type, field_kind& kind) {
  switch (type) {
    case reflection::Bool: kind = field_kind::boolean; return true;
    case reflection::Byte: kind = field_kind::int8; return true;
    case reflection::UType:
    case reflection::UByte: kind = field_kind::uint8; return true;
    case reflection::Short: kind = field_kind::int16; return true;
    case reflection::UShort: kind = field_kind::uint16; return true;
    case reflection::Int: kind = field_kind::int32; return true;
    case reflection::UInt: kind = field_kind::uint32; return true;
    case reflection::Long: kind = field_kind::int64; return true;
    case reflection::ULong: kind = field_kind::uint64; return true;
    case reflection::Float: kind = field_kind::float32; return true;
    case reflection::Double: kind = field_kind::float64; return true;
    default: return false;
  }
}

}  // namespace

class flatbuffer_schema::reader {
 public:
  reader(const reflection::Schema& from, flatbuffer_schema& to) : from_(from), to_(to) {}

  result read(std::string_view root) {
    read_enumerations();
    to_.objects_.resize(from_.objects()->size());
    for (flatbuffers::uoffset_t i = 0; i < from_.objects()->size(); ++i) {
      if (result done = read_head(*from_.objects()->Get(i), to_.objects_[i]); !done) return done;
    }
    for (flatbuffers::uoffset_t i = 0; i < from_.objects()->size(); ++i) {
      if (result done = read_object(*from_.objects()->Get(i), to_.objects_[i]); !done) return done;
    }
    if (result done = read_unions(); !done) return done;
    if (result done = check_structs(); !done) return done;
    to_.identifier_ = view(from_.file_ident());
    if (to_.identifier_.size() != 4) to_.identifier_ = {};
    return find_root(root.empty() && from_.root_table() ? view(from_.root_table()->name()) : root);
  }

 private:
  void read_enumerations() {
    for (const auto* each : *from_.enums()) {
      std::vector<enumeration::entry> entries;
      for (const auto* value : *each->values()) entries.push_back({view(value->name()), value->value()});
      to_.enumerations_.emplace_back(std::move(entries));
    }
  }

  static result read_head(const reflection::Object& from, flat_object& to) {
    to.name = view(from.name());
    to.is_struct = from.is_struct();
    if (!to.is_struct) return {};
    const std::int32_t alignment = from.minalign();
    if (from.bytesize() < 0 || alignment < 1 || alignment > 32768 || (alignment & (alignment - 1)) != 0 ||
        from.bytesize() % alignment != 0) {
      return bad_schema("struct `" + shown(to.name) + "` has an impossible size or alignment");
    }
    to.bytes = static_cast<std::size_t>(from.bytesize());
    to.alignment = static_cast<std::size_t>(alignment);
    return {};
  }

  result read_object(const reflection::Object& from, flat_object& to) {
    std::vector<const reflection::Field*> fields(from.fields()->begin(), from.fields()->end());
    std::sort(fields.begin(), fields.end(), [](const auto* a, const auto* b) { return a->id() < b->id(); });
    for (const auto* each : fields) {
      flat_field field;
      if (result done = read_field(*each, to, field); !done) return done;
      if (!to.by_name.emplace(field.info.name, to.fields.size()).second) {
        return bad_field(to, field.info.name, "is there twice");
      }
      to.fields.push_back(field);
    }
    return find_union_types(to);
  }

  result read_field(const reflection::Field& from, const flat_object& in, flat_field& to) {
    to.info.name = view(from.name());
    if (const auto* lines = from.documentation(); lines && lines->size() > 0) {
      to.info.comment = trimmed(view(lines->Get(0)));
    }
    if (from.attributes()) {
      for (const auto* each : *from.attributes()) {
        if (view(each->key()) == "unit") to.info.unit = view(each->value());
      }
    }
    to.slot = from.offset();
    to.default_integer = from.default_integer();
    to.default_real = from.default_real();
    to.optional = from.optional();
    to.required = from.required();
    to.deprecated = from.deprecated();
    if (result done = read_type(*from.type(), to.type); !done) {
      return bad_field(in, to.info.name, done.error().message());
    }
    to.type.far = to.type.far || has_offset64(from);
    const bool many = to.type.kind == flat_kind::vector || to.type.kind == flat_kind::array;
    if (to.type.far && ((to.type.kind != flat_kind::text && to.type.kind != flat_kind::vector) ||
                        to.type.element == flat_kind::flat_union)) {
      return bad_field(in, to.info.name, "is of a kind that has no offset of 64 bits");
    }
    const bool numbers = (many ? to.type.element : to.type.kind) == flat_kind::number;
    const auto enumeration = static_cast<std::size_t>(from.type()->index());
    if (numbers && from.type()->index() >= 0) {
      if (enumeration >= to_.enumerations_.size()) return bad_field(in, to.info.name, "is of an unknown enumeration");
      to.info.names = &to_.enumerations_[enumeration];
    }
    if (!in.is_struct) {
      if (to.slot < 4 || to.slot % 2 != 0) return bad_field(in, to.info.name, "has an impossible place");
      return {};
    }
    const bool fixed = to.type.kind == flat_kind::number || is_struct(to.type) ||
                       (to.type.kind == flat_kind::array && to.type.element != flat_kind::text);
    const std::size_t bytes = fixed ? to_.bytes_of(to.type) : 0;
    if (!fixed || bytes > in.bytes || to.slot > in.bytes - bytes) {
      return bad_field(in, to.info.name, "does not lie in its struct");
    }
    return {};
  }

  [[nodiscard]] bool is_struct(const flat_type& type) const {
    return type.kind == flat_kind::object && to_.objects_[type.index].is_struct;
  }

  // The error's message is the end of a sentence about the field.
  result read_type(const reflection::Type& from, flat_type& to) const {
    if (result done = read_kind(from.base_type(), from.index(), to.kind, to); !done) return done;
    if (to.kind == flat_kind::vector || to.kind == flat_kind::array) {
      if (result done = read_kind(from.element(), from.index(), to.element, to); !done) return done;
      if (to.element == flat_kind::vector || to.element == flat_kind::array) {
        return {errc::bad_argument, "is an array of arrays"};
      }
    }
    if (to.kind == flat_kind::array) {
      to.fixed_size = from.fixed_length();
      const bool of_structs = to.element == flat_kind::object && to_.objects_[to.index].is_struct;
      if (to.element != flat_kind::number && !of_structs) return {errc::bad_argument, "is an array of another kind"};
    }
    return {};
  }

  result read_kind(reflection::BaseType from, std::int32_t index, flat_kind& kind, flat_type& to) const {
    to.index = static_cast<std::size_t>(std::max(index, 0));
    if (number_of(from, to.number)) {
      kind = flat_kind::number;
    } else if (from == reflection::String) {
      kind = flat_kind::text;
    } else if (from == reflection::Vector || from == vector64) {
      kind = flat_kind::vector;
      to.far = to.wide = from == vector64;
    } else if (from == reflection::Array) {
      kind = flat_kind::array;
    } else if (from == reflection::Obj) {
      kind = flat_kind::object;
      if (index < 0 || to.index >= to_.objects_.size()) return {errc::bad_argument, "is of an unknown table"};
    } else if (from == reflection::Union) {
      kind = flat_kind::flat_union;
      if (index < 0 || to.index >= to_.enumerations_.size()) return {errc::bad_argument, "is of an unknown union"};
    } else {
      return {errc::bad_argument, "is of a kind that this version does not know"};
    }
    return {};
  }

  static result find_union_types(flat_object& in) {
    for (std::size_t i = 0; i < in.fields.size(); ++i) {
      flat_field& field = in.fields[i];
      const bool vector = field.type.kind == flat_kind::vector && field.type.element == flat_kind::flat_union;
      if (field.type.kind != flat_kind::flat_union && !vector) continue;
      const auto found = in.by_name.find(std::string(field.info.name) + "_type");
      const flat_kind wanted = vector ? flat_kind::vector : flat_kind::number;
      if (found == in.by_name.end() || in.fields[found->second].type.kind != wanted ||
          in.fields[found->second].type.element != flat_kind::number ||
          in.fields[found->second].type.number != field_kind::uint8) {
        return bad_field(in, field.info.name, "is a union without a type");
      }
      field.union_type = found->second;
    }
    return {};
  }

  result read_unions() {
    to_.unions_.resize(from_.enums()->size());
    for (flatbuffers::uoffset_t i = 0; i < from_.enums()->size(); ++i) {
      const auto& each = *from_.enums()->Get(i);
      if (!each.is_union()) continue;
      for (const auto* value : *each.values()) {
        if (!value->union_type() || value->union_type()->base_type() == reflection::None) continue;
        flat_type type;
        if (result done = read_type(*value->union_type(), type); !done) {
          return bad_schema("member `" + shown(view(value->name())) + "` of union `" + shown(view(each.name())) + "` " +
                            done.error().message());
        }
        type.boxed = is_struct(type);
        if (type.kind != flat_kind::object && type.kind != flat_kind::text) {
          return bad_schema("union `" + shown(view(each.name())) + "` has a member that is no table or text");
        }
        to_.unions_[i].members.emplace(value->value(), type);
      }
    }
    return {};
  }

  // A struct holds others, never itself: each walk of them ends.
  result check_structs() {
    std::vector<unsigned char> seen(to_.objects_.size());  // 1: on the way, 2: good
    for (std::size_t i = 0; i < to_.objects_.size(); ++i) {
      if (to_.objects_[i].is_struct && !ends(i, 0, seen)) {
        return bad_schema("struct `" + shown(to_.objects_[i].name) + "` holds itself, or is nested too deeply");
      }
    }
    return {};
  }
  bool ends(std::size_t object, std::size_t depth, std::vector<unsigned char>& seen) const {
    if (seen[object] == 2) return true;
    if (seen[object] == 1 || depth > max_depth) return false;
    seen[object] = 1;
    for (const auto& field : to_.objects_[object].fields) {
      const bool holds = field.type.kind == flat_kind::object ||
                         (field.type.kind == flat_kind::array && field.type.element == flat_kind::object);
      if (holds && !ends(field.type.index, depth + 1, seen)) return false;
    }
    seen[object] = 2;
    return true;
  }

  result find_root(std::string_view name) {
    for (std::size_t i = 0; i < to_.objects_.size(); ++i) {
      if (to_.objects_[i].name != name) continue;
      if (to_.objects_[i].is_struct) return bad_schema("`" + shown(name) + "` is a struct, and no root");
      to_.root_ = i;
      return {};
    }
    return bad_schema("there is no table `" + shown(name) + "`");
  }

  const reflection::Schema& from_;
  flatbuffer_schema& to_;
};

result flatbuffer_schema::make(const type_description& type) {
  // Limits what the Verifier visits: it looks at tables and vectors that are shared once for each reference to them.
  if (result readable = check_schema(type); !readable) return readable;
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(type.schema.data());
  flatbuffers::Verifier verifier(bytes, type.schema.size());
  if (type.schema.size() < 8 || !reflection::SchemaBufferHasIdentifier(bytes) ||
      !reflection::VerifySchemaBuffer(verifier)) {
    return bad_schema("this is no binary schema (bfbs)");
  }
  return reader(*reflection::GetSchema(bytes), *this).read(type.name);
}

std::size_t flatbuffer_schema::bytes_of(const flat_type& type) const noexcept {
  if (type.kind == flat_kind::number) return size_of(type.number);
  if (type.kind == flat_kind::array) return type.fixed_size * bytes_of(type.of_element());
  if (type.kind == flat_kind::object && objects_[type.index].is_struct && !type.boxed)
    return objects_[type.index].bytes;
  return type.far ? 8 : 4;  // an offset
}

name_list flatbuffer_schema::names_of(const flat_object& object) const {
  name_list list;
  for (const auto& each : object.fields) {
    if (!each.deprecated) list.add(each.info.name);
  }
  return list;
}

}  // namespace orc::types::detail
