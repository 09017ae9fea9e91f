// Whether programs with two versions of a Protobuf message read each other's bytes in the same sense.
#pragma once

#include <string>

#include "schema/protobuf/protobuf_schema.h"
#include "schema/sentences.h"

namespace orc::detail {

// Returns the first difference, by ascending field numbers. A number that both have must have the same type, be
// repeated or required in both or in neither, and its enumeration must have the same name for each number that both
// know. A number that only one has must not be required. Names of fields and of nested messages do not matter.
[[nodiscard]] difference compare_protobuf(const protobuf_types& published, const protobuf_types& expected,
                                          const sentences& words);

// Returns a field's type for people: "repeated double", "map<string, robot.Pose>". Names are escaped.
[[nodiscard]] std::string type_of(const protobuf_types& all, const protobuf_field& field);

// Returns one field per line, the root first, then each message and enumeration that it contains.
[[nodiscard]] std::string protobuf_text(const protobuf_types& all, const std::string& title);

}  // namespace orc::detail
