#include "schema/type_text.h"

#include "base/text/printable.h"
#include "schema/encoding.h"
#include "schema/flatbuffer/flatbuffer_text.h"
#include "schema/lcm/lcm_schema.h"
#include "schema/protobuf/protobuf_comparison.h"
#include "schema/ros2/ros2_schema.h"
#include "schema/sentences.h"
#include "schema/structure/struct_schema.h"
#include "schema/structure/structure_text.h"
#include "schema/type_check.h"

namespace orc::detail {
namespace {

// "robot.State (struct, 72 bytes, little-endian)"
std::string title(const type_description& type, const std::string& facts) {
  return sentences::type_name(type.name) + " (" + facts + ")";
}

std::string unreadable(const type_description& type, const std::string& why) {
  const auto& encoding = type.schema_encoding;
  return title(type, encoding.empty() ? "no schema encoding" : escaped(encoding)) + "\n  " + why + "\n";
}
std::string unreadable(const type_description& type, const orc::error& why) {
  return unreadable(type, "the schema cannot be read: " + why.message());
}

std::string struct_text(const type_description& type) {
  const auto read = parse_struct_schema(type.schema);
  if (!read) return unreadable(type, read.error());
  const auto size = read->structures.front().size;
  return structure_text(*read, title(type, "struct, " + std::to_string(size) + (size == 1 ? " byte, " : " bytes, ") +
                                               (read->big_endian ? "big-endian" : "little-endian")));
}

std::string lcm_text(const type_description& type) {
  const auto read = parse_lcm_schema(type.schema, type.name);
  if (!read) return unreadable(type, read.error());
  const auto& root = read->definitions.structures;
  const auto facts = "lcm, fingerprint " + sentences::hex(read->fingerprint);
  if (root.empty()) return title(type, facts) + "\n  the fields are not known\n";
  auto named = type;
  named.name = root.front().name;
  return structure_text(read->definitions, title(named, facts));
}

std::string ros2_text(const type_description& type) {
  const auto read = parse_ros2_schema(type.schema, type.name);
  return read ? structure_text(*read, title(type, "ros2msg")) : unreadable(type, read.error());
}

std::string protobuf_type_text(const type_description& type) {
  const auto read = parse_protobuf_schema(type.schema, type.name);
  return read ? protobuf_text(*read, title(type, "protobuf")) : unreadable(type, read.error());
}

std::string flatbuffer_type_text(const type_description& type) {
  const auto read = parse_flatbuffer_schema(type.schema, type.name);
  if (!read) return unreadable(type, read.error());
  auto named = type;
  named.name = read->objects[read->root].name;
  return flatbuffer_text(*read, title(named, "flatbuffer"));
}

std::string json_text(const type_description& type) {
  return unreadable(type, std::to_string(type.schema.size()) + " bytes of JSON Schema");
}

}  // namespace

std::string type_text(const type_description& type) {
  if (type.empty()) return "no type\n";
  if (const auto limits = check_limits(type); !limits) return unreadable(type, limits.error());
  if (type.schema.empty()) return title(type, escaped(type.message_encoding)) + "\n  no schema\n";
  switch (schema_encoding_of(type)) {
    case encoding::structure: return struct_text(type);
    case encoding::lcm: return lcm_text(type);
    case encoding::flatbuffer: return flatbuffer_type_text(type);
    case encoding::protobuf: return protobuf_type_text(type);
    case encoding::ros2: return ros2_text(type);
    case encoding::json: return json_text(type);
    default: return unreadable(type, std::to_string(type.schema.size()) + " bytes of an unknown encoding");
  }
}

}  // namespace orc::detail
