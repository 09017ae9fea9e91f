// Shows binary schemas to people.
#pragma once

#include <string>

#include "schema/flatbuffer/flatbuffer_schema.h"

namespace orc::detail {

// Returns the name of a type as schemas write it: "[robot.Pose]", "[double:3]". Names are escaped.
[[nodiscard]] std::string type_of(const flatbuffer_types& all, const flatbuffer_type& type);
// The same with the attribute "(offset64)" or "(vector64)".
[[nodiscard]] std::string type_of(const flatbuffer_types& all, const flatbuffer_field& field);

// Returns a field's default: "0", "0.5", "null". Nothing for a field that has none.
[[nodiscard]] std::string default_of(const flatbuffer_field& field);

// Returns one field per line, the root first, then each table, struct, union and enum in it.
[[nodiscard]] std::string flatbuffer_text(const flatbuffer_types& all, const std::string& title);

}  // namespace orc::detail
