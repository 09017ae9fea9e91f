// Schemas of strangers: reads, compares and shows two of one encoding. The input is [u8 encoding][u8 name][u16 length
// of the first schema, little-endian][both schemas].
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/text/printable.h"
#include "orc/schema.h"

namespace {

using namespace orc;

struct encoding {
  const char* schema;
  const char* message;
};
constexpr std::array<encoding, 7> encodings{{{"struct", "struct"},
                                             {"lcm", "lcm"},
                                             {"flatbuffer", "flatbuffer"},
                                             {"protobuf", "protobuf"},
                                             {"ros2msg", "cdr"},
                                             {"jsonschema", "json"},
                                             {"ros2idl", "cdr"}}};
constexpr std::array<const char*, 6> names{"", "robot.State", "demo.state", "robot_msgs/msg/State", "a", "\x1b\xff"};

void require(bool right) {
  if (!right) std::abort();
}

void check_one(const type_description& type) {
  const bool readable = static_cast<bool>(check_schema(type));
  schema found;
  const auto parsed = parse_schema(type, found);
  if (parsed) {
    require(readable && !found.structures.empty());
    for (const auto& structure : found.structures) {
      for (const auto& field : structure.fields) require(field.structure < found.structures.size());
    }
  } else {
    require(detail::is_printable(parsed.error().message()));
  }
  if (type.schema_encoding == "lcm") require(lcm_fingerprint(type).has_value() == (readable && !type.schema.empty()));
  require(detail::is_printable(type_text(type)));
  require(static_cast<bool>(check_types(type, type, "self")));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 4) return 0;
  const auto& encoding = encodings[data[0] % encodings.size()];
  const std::string name = names[data[1] % names.size()];
  const std::string_view rest(reinterpret_cast<const char*>(data) + 4, size - 4);
  const auto length = std::min<std::size_t>(data[2] | (std::size_t{data[3]} << 8), rest.size());
  const type_description first{name, encoding.schema, encoding.message, std::string(rest.substr(0, length))};
  const type_description second{name, encoding.schema, encoding.message, std::string(rest.substr(length))};
  check_one(first);
  check_one(second);
  const auto there = check_types(first, second, "\x1b (1)");
  const auto back = check_types(second, first, "b (2)");
  require(detail::is_printable(there.error().message()) && detail::is_printable(back.error().message()));
  require(static_cast<bool>(there) == static_cast<bool>(back));
  return 0;
}
