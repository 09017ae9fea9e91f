// Type descriptions of encoding struct for tests.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "orc/type_description.h"

namespace orc::test {

// A structure with one field, an array of seven: { "name": "q", "type": element, "shape": [7] }.
[[nodiscard]] inline type_description struct_type(std::string_view element, std::string name = "robot.State") {
  const std::string size = element == "float64" ? "56" : "28";
  return {.name = std::move(name),
          .schema_encoding = "struct",
          .message_encoding = "struct",
          .schema = R"({"byte_order":"little","size":)" + size + R"(,"fields":[{"name":"q","type":")" +
                    std::string(element) + R"(","offset":0,"shape":[7]}]})"};
}

// The same with so many bytes, which white space fills.
[[nodiscard]] inline type_description large_struct_type(std::string_view element, std::size_t schema_bytes) {
  type_description type = struct_type(element);
  type.schema.insert(1, std::string(schema_bytes - type.schema.size(), ' '));
  return type;
}

// A publisher of struct_type("float32") whose subscriber expects struct_type("float64").
[[nodiscard]] inline std::string mismatch_of_structs(const std::string& publisher) {
  return "type mismatch between robot.State at publisher `" + publisher +
         "` and robot.State here: field `q` is float32[7] at publisher `" + publisher + "`, float64[7] here";
}

}  // namespace orc::test
