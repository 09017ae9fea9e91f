// Schemas of encoding "protobuf": a serialised FileDescriptorSet (google/protobuf/descriptor.proto) with all
// dependencies.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/expected.h"

namespace orc::detail {

// The numbers of FieldDescriptorProto.Type.
enum class protobuf_kind : std::uint8_t {
  unknown,
  float64,
  float32,
  int64,
  uint64,
  int32,
  fixed64,
  fixed32,
  boolean,
  string,
  group,
  message,
  bytes,
  uint32,
  enumeration,
  sfixed32,
  sfixed64,
  sint32,
  sint64
};

enum class protobuf_label : std::uint8_t { optional = 1, required = 2, repeated = 3 };

struct protobuf_field {
  std::string name = {};
  std::int32_t number = 0;
  protobuf_kind kind = protobuf_kind::unknown;
  protobuf_label label = protobuf_label::optional;
  std::string type_name = {};                     // ".robot.Pose"
  std::size_t type = 0;                           // its index in messages or enumerations
  bool has_presence = false;                      // proto3: declared as optional
  std::optional<std::string> default_value = {};  // proto2: as descriptor.proto writes it
  std::optional<std::size_t> oneof = {};
  bool is_delimited = false;  // editions: a message is written as a group; not one of a map
};

struct protobuf_message {
  std::string name = {};                    // with its package: "robot.State"
  std::vector<protobuf_field> fields = {};  // by number, with extensions
  std::vector<std::string> oneofs = {};
  bool is_map_entry = false;
};

struct protobuf_enum {
  std::string name = {};
  std::vector<std::pair<std::string, std::int32_t>> values = {};  // as they were written
};

struct protobuf_types {
  std::vector<protobuf_message> messages = {};
  std::vector<protobuf_enum> enumerations = {};
  std::size_t root = 0;  // index of a message
};

// `name` is the root's full name: "robot.State". Error: what is wrong, with its place ("byte 17: …").
[[nodiscard]] expected<protobuf_types> parse_protobuf_schema(std::string_view bytes, std::string_view name);

}  // namespace orc::detail
