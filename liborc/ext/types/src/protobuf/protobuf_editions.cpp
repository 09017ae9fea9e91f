#include "protobuf/protobuf_editions.h"

#include <google/protobuf/unknown_field_set.h>

#include <cstdint>

namespace orc::types::detail {
namespace {

using pb_type = pb::FieldDescriptorProto;

// Where the options of each definition have `features` (descriptor.proto of Protobuf 27).
enum features_number : int { of_oneof = 1, of_enum = 7, of_message = 12, of_field = 21, of_file = 50 };
// In FeatureSet, and their values.
enum feature : int { presence = 1, enum_type, repeated_encoding, utf8_validation, message_encoding };
enum presence_value : std::uint64_t { presence_implicit = 2, presence_required = 3 };
enum enum_type_value : std::uint64_t { enum_closed = 2 };
enum repeated_value : std::uint64_t { repeated_expanded = 2 };
enum utf8_value : std::uint64_t { utf8_unchecked = 3 };
enum message_value : std::uint64_t { message_delimited = 2 };

bool is_packable(const pb_type& field) {
  return field.has_type() && field.type() != pb_type::TYPE_STRING && field.type() != pb_type::TYPE_BYTES &&
         field.type() != pb_type::TYPE_MESSAGE && field.type() != pb_type::TYPE_GROUP;
}

}  // namespace

// The library may know the features or not: its bytes are read.
protobuf_editions::features protobuf_editions::merged(features base, const pb::Message& options, int number) {
  pb::UnknownFieldSet all;
  if (!all.ParseFromString(options.SerializePartialAsString())) return base;
  for (int i = 0; i < all.field_count(); ++i) {
    const auto& each = all.field(i);
    pb::UnknownFieldSet set;
    if (each.number() != number || each.type() != pb::UnknownField::TYPE_LENGTH_DELIMITED) continue;
    if (!set.ParseFromString(each.length_delimited())) continue;
    for (int j = 0; j < set.field_count(); ++j) {
      if (set.field(j).type() != pb::UnknownField::TYPE_VARINT) continue;
      const std::uint64_t value = set.field(j).varint();
      switch (set.field(j).number()) {
        case presence:
          base.implicit = value == presence_implicit;
          base.required = value == presence_required;
          break;
        case enum_type: base.closed = value == enum_closed; break;
        case repeated_encoding: base.expanded = value == repeated_expanded; break;
        case utf8_validation: base.unchecked = value == utf8_unchecked; break;
        case message_encoding: base.delimited = value == message_delimited; break;
        default: break;
      }
    }
  }
  return base;
}

protobuf_editions::scope protobuf_editions::scope_of(const pb::FileDescriptorProto& file) {
  scope made;
  made.name = file.package().empty() ? "." : "." + file.package() + ".";
  made.is_edition = file.syntax() == "editions";
  made.is_proto3 = file.syntax() == "proto3";
  made.inherited.closed = !made.is_edition && !made.is_proto3;
  if (made.is_edition) made.inherited = merged(made.inherited, file.options(), of_file);
  return made;
}

void protobuf_editions::learn(const pb::EnumDescriptorProto& type, const scope& in) {
  const features own = in.is_edition ? merged(in.inherited, type.options(), of_enum) : in.inherited;
  enums_.emplace(in.name + type.name(), known_enum{&type, !own.closed, in.is_edition});
}

void protobuf_editions::learn(const pb::DescriptorProto& type, const scope& in) {
  scope own = in;
  if (type.options().map_entry()) map_entries_.insert(in.name + type.name());
  if (in.is_edition) own.inherited = merged(in.inherited, type.options(), of_message);
  own.name += type.name() + ".";
  for (const auto& each : type.enum_type()) learn(each, own);
  for (const auto& each : type.nested_type()) learn(each, own);
}

void protobuf_editions::rewrite(pb::FileDescriptorSet& files) {
  bool any = false;
  for (const auto& file : files.file()) any = any || file.syntax() == "editions";
  if (!any) return;
  for (const auto& file : files.file()) {
    const scope in = scope_of(file);
    for (const auto& each : file.enum_type()) learn(each, in);
    for (const auto& each : file.message_type()) learn(each, in);
  }
  for (auto& file : *files.mutable_file()) {
    const scope in = scope_of(file);
    for (auto& each : *file.mutable_message_type()) rewrite(each, in);
    for (auto& each : *file.mutable_extension()) rewrite(each, in, false);
    if (in.is_edition) file.set_syntax("proto2");
  }
}

void protobuf_editions::rewrite(pb::DescriptorProto& type, const scope& in) {
  scope own = in;
  if (in.is_edition) own.inherited = merged(in.inherited, type.options(), of_message);
  own.name += type.name() + ".";
  for (auto& each : *type.mutable_nested_type()) rewrite(each, own);
  for (auto& each : *type.mutable_extension()) rewrite(each, own, false);
  for (auto& each : *type.mutable_field()) {
    if (in.is_edition && each.has_oneof_index() && each.oneof_index() < type.oneof_decl_size()) {
      scope around = own;
      around.inherited = merged(own.inherited, type.oneof_decl(each.oneof_index()).options(), of_oneof);
      rewrite(each, around, true);
    } else {
      rewrite(each, own, false);
    }
  }
}

// The library takes unknown values of an enumeration in proto2 for unknown fields, so the field becomes an int32.
bool protobuf_editions::open_enumeration(pb::FieldDescriptorProto& field, const std::string& name, bool edition_only) {
  const auto found = enums_.find(field.type_name());
  if (found == enums_.end() || !found->second.is_open || (edition_only && !found->second.is_edition)) return false;
  if (field.has_default_value()) {
    for (const auto& each : found->second.type->value()) {
      if (each.name() != field.default_value()) continue;
      field.set_default_value(std::to_string(each.number()));
      break;
    }
  }
  enumerations_.emplace(name, field.type_name().substr(1));
  field.set_type(pb_type::TYPE_INT32);
  field.clear_type_name();
  return true;
}

void protobuf_editions::rewrite(pb::FieldDescriptorProto& field, const scope& in, bool in_oneof) {
  const std::string name = in.name.substr(1) + field.name();
  if (field.type() == pb_type::TYPE_ENUM && (in.is_edition || in.is_proto3)) {
    open_enumeration(field, name, in.is_proto3);
  }
  if (!in.is_edition) return;
  const features own = merged(in.inherited, field.options(), of_field);
  const bool is_message = field.type() == pb_type::TYPE_MESSAGE;
  const bool repeated = field.label() == pb_type::LABEL_REPEATED;
  const bool in_map_entry = map_entries_.contains(in.name.substr(0, in.name.size() - 1));
  if (own.delimited && is_message && !in_map_entry && !map_entries_.contains(field.type_name())) {
    field.set_type(pb_type::TYPE_GROUP);
  }
  if (repeated && is_packable(field)) field.mutable_options()->set_packed(!own.expanded);
  if (!repeated && own.required && !in_oneof && !in_map_entry) field.set_label(pb_type::LABEL_REQUIRED);
  if (!repeated && own.implicit && !is_message && !in_oneof && !field.has_extendee()) implicit_.insert(name);
  if (field.type() == pb_type::TYPE_STRING && !own.unchecked) checked_.insert(name);
}

}  // namespace orc::types::detail
