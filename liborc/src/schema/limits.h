// The limits of schemas: schemas/PROTOCOL.md, "Types".
#pragma once

#include <cstddef>
#include <string>
#include <utility>

#include "orc/result.h"

namespace orc::detail {

inline constexpr std::size_t max_schema_fields = 65'536;      // in all structures together; also of named values
inline constexpr std::size_t max_schema_name_bytes = 255;     // of a type, a field, a value
inline constexpr std::size_t max_schema_dimensions = 32;      // of one array
inline constexpr std::size_t max_struct_levels = 32;          // of structures in each other, the type itself included
inline constexpr std::size_t max_type_levels = 64;            // the same, where types have names and can repeat
inline constexpr std::size_t max_json_levels = 128;           // of arrays and objects in each other
inline constexpr std::size_t max_comparison_steps = 1 << 20;  // fields and values compared
inline constexpr std::size_t max_fingerprint_steps = 100'000;

// A schema violates its format or a limit.
[[nodiscard]] inline orc::error bad_schema(std::string why) { return orc::error(errc::bad_argument, std::move(why)); }

}  // namespace orc::detail
