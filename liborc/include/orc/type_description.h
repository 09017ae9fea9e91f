// What the bytes of a topic mean.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "orc/version.h"

namespace orc {

// The most bytes that a schema can have: 1 MiB.
inline constexpr std::size_t max_schema_bytes = std::size_t{1} << 20;

// The type of a topic's samples, in the four parts that MCAP uses. schemas/PROTOCOL.md, "Types", lists the encodings
// that ORC can compare and show; others are allowed.
struct type_description {
  std::string name = {};              // of the type: "robot.State"; at most 255 bytes
  std::string schema_encoding = {};   // "struct", "lcm", "flatbuffer", "protobuf", "ros2msg", "jsonschema"; empty: none
  std::string message_encoding = {};  // "struct", "lcm", "flatbuffer", "protobuf", "cdr", "json"
  std::string schema = {};            // bytes, at most max_schema_bytes

  // Whether nothing is known about the type. An untyped end matches any other.
  [[nodiscard]] bool empty() const noexcept {
    return name.empty() && schema_encoding.empty() && message_encoding.empty() && schema.empty();
  }
  // Whether all parts are equal.
  bool operator==(const type_description&) const = default;
};

// Returns the first 8 bytes, little-endian, of SHA-256 over the four parts in the order of the struct, each preceded by
// its length as a little-endian u64. Returns 0 for an empty description. Any thread.
[[nodiscard]] ORC_API std::uint64_t hash_of(const type_description& type) noexcept;

}  // namespace orc
