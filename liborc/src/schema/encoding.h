// The encodings whose schemas are understood.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "orc/type_description.h"

namespace orc::detail {

enum class encoding : std::uint8_t { structure, lcm, flatbuffer, protobuf, ros2, json, other };

struct encoding_names {
  encoding which;
  std::string_view schema;
  std::string_view message;
};
inline constexpr std::array<encoding_names, 6> encodings{{{encoding::structure, "struct", "struct"},
                                                          {encoding::lcm, "lcm", "lcm"},
                                                          {encoding::flatbuffer, "flatbuffer", "flatbuffer"},
                                                          {encoding::protobuf, "protobuf", "protobuf"},
                                                          {encoding::ros2, "ros2msg", "cdr"},
                                                          {encoding::json, "jsonschema", "json"}}};

// Returns the encoding of the schema.
[[nodiscard]] inline encoding schema_encoding_of(const type_description& type) noexcept {
  for (const auto& each : encodings) {
    if (each.schema == type.schema_encoding) return each.which;
  }
  return encoding::other;
}

// Returns the encoding of the messages, if schemas of the encoding that belongs to it are understood; a description
// without a schema has any.
[[nodiscard]] inline encoding message_encoding_of(const type_description& type) noexcept {
  for (const auto& each : encodings) {
    if (each.message != type.message_encoding) continue;
    if (each.schema == type.schema_encoding || each.which == encoding::json || type.schema.empty()) return each.which;
  }
  return encoding::other;
}

}  // namespace orc::detail
