// The functions of orc/schema.h.
#include "orc/schema.h"

#include "schema/encoding.h"
#include "schema/lcm/lcm_schema.h"
#include "schema/limits.h"
#include "schema/ros2/ros2_schema.h"
#include "schema/structure/struct_schema.h"
#include "schema/type_check.h"
#include "schema/type_text.h"

namespace orc {
namespace {

result with_name(const type_description& type, const result& outcome) {
  if (outcome) return outcome;
  return {outcome.code(), "schema of " + detail::sentences::type_name(type.name) + ": " + outcome.error().message()};
}

detail::expected<schema> read(const type_description& type) {
  if (const auto limits = detail::check_limits(type); !limits) return limits.error();
  switch (detail::schema_encoding_of(type)) {
    case detail::encoding::structure: {
      auto made = detail::parse_struct_schema(type.schema);
      if (made) made->structures.front().name = type.name;
      return made;
    }
    case detail::encoding::lcm: {
      auto types = detail::parse_lcm_schema(type.schema, type.name);
      if (!types) return types.error();
      if (types->definitions.structures.empty()) return detail::bad_schema("it has no fields, only a fingerprint");
      return std::move(types->definitions);
    }
    case detail::encoding::ros2: return detail::parse_ros2_schema(type.schema, type.name);
    default: return detail::bad_schema("its encoding is not struct, lcm or ros2msg");
  }
}

}  // namespace

std::string_view to_string(field_kind kind) noexcept {
  switch (kind) {
    case field_kind::boolean: return "bool";
    case field_kind::int8: return "int8";
    case field_kind::uint8: return "uint8";
    case field_kind::int16: return "int16";
    case field_kind::uint16: return "uint16";
    case field_kind::int32: return "int32";
    case field_kind::uint32: return "uint32";
    case field_kind::int64: return "int64";
    case field_kind::uint64: return "uint64";
    case field_kind::float32: return "float32";
    case field_kind::float64: return "float64";
    case field_kind::character: return "char";
    case field_kind::string: return "string";
    case field_kind::wide_string: return "wstring";
    case field_kind::structure: return "struct";
  }
  return "unknown";
}

result parse_schema(const type_description& type, schema& found) {
  auto outcome = read(type);
  if (!outcome) return with_name(type, outcome.error());
  found = std::move(*outcome);
  return {};
}

result check_schema(const type_description& type) { return with_name(type, detail::check_schema(type)); }

result check_types(const type_description& published, const type_description& expected, std::string_view publisher) {
  return detail::check_types(published, expected, detail::sentences(publisher));
}

std::optional<std::uint64_t> lcm_fingerprint(const type_description& type) {
  if (detail::schema_encoding_of(type) != detail::encoding::lcm || !detail::check_limits(type)) return {};
  const auto types = detail::parse_lcm_schema(type.schema, type.name);
  if (!types) return {};
  return types->fingerprint;
}

std::string type_text(const type_description& type) { return detail::type_text(type); }

}  // namespace orc
