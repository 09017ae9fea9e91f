// Schemas of encoding "flatbuffer": binary schemas as `flatc --binary --schema` writes them (reflection.fbs).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/expected.h"

namespace orc::detail {

// The numbers of reflection.BaseType.
enum class flatbuffer_kind : std::uint8_t {
  none,
  union_type,
  boolean,
  int8,
  uint8,
  int16,
  uint16,
  int32,
  uint32,
  int64,
  uint64,
  float32,
  float64,
  string,
  vector,
  object,
  one_of,  // a union
  array,
  vector64  // its offset and its length have 8 bytes
};

[[nodiscard]] inline bool is_list(flatbuffer_kind kind) noexcept {
  return kind == flatbuffer_kind::vector || kind == flatbuffer_kind::array || kind == flatbuffer_kind::vector64;
}

struct flatbuffer_type {
  flatbuffer_kind kind = flatbuffer_kind::none;
  flatbuffer_kind element = flatbuffer_kind::none;  // of a list
  std::uint16_t length = 0;                         // of an array
  std::optional<std::size_t> object = {};           // its index
  std::optional<std::size_t> enumeration = {};      // its index; also a union's
};

struct flatbuffer_field {
  std::string name = {};
  std::uint16_t id = 0;
  std::uint16_t offset = 0;  // in a struct: bytes from its start
  flatbuffer_type type = {};
  std::int64_t default_integer = 0;
  double default_real = 0;
  bool deprecated = false;
  bool required = false;
  bool optional = false;  // a number without default
  bool is_far = false;    // its offset has 8 bytes
  std::string unit = {};  // attribute `unit`
  std::string comment = {};
};

struct flatbuffer_object {
  std::string name = {};                      // with its namespace: "robot.State"
  std::vector<flatbuffer_field> fields = {};  // by id
  bool is_struct = false;
  std::int32_t size = 0;       // of a struct
  std::int32_t alignment = 1;  // of a struct
  std::string comment = {};
};

struct flatbuffer_value {
  std::string name = {};
  std::int64_t value = 0;
  std::optional<std::size_t> object = {};  // of a union
};

struct flatbuffer_enum {
  std::string name = {};
  std::vector<flatbuffer_value> values = {};
  bool is_union = false;
  flatbuffer_kind underlying = flatbuffer_kind::none;
};

struct flatbuffer_types {
  std::vector<flatbuffer_object> objects = {};
  std::vector<flatbuffer_enum> enumerations = {};
  std::size_t root = 0;  // index of a table
};

// `name` is the root's full name; empty: the schema's root_type. Error: what is wrong, with its place ("byte 17: …").
[[nodiscard]] expected<flatbuffer_types> parse_flatbuffer_schema(std::string_view bytes, std::string_view name);

}  // namespace orc::detail
