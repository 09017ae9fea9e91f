// Schemas of encoding "struct": a JSON text that lists the fields of a C++ aggregate or a numpy dtype with their
// offsets (schemas/PROTOCOL.md, "Types").
#pragma once

#include <string_view>

#include "base/expected.h"
#include "orc/schema.h"

namespace orc::detail {

// Error: what is wrong, with its place ("byte 17: …"). The structures have no names.
[[nodiscard]] expected<schema> parse_struct_schema(std::string_view text);

}  // namespace orc::detail
