// The value of a parameter, as programs other than its owner see it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "orc/result.h"
#include "orc/version.h"

namespace orc {

// A truth value, a whole number, a number, a text (UTF-8) or a list of numbers. Numbers are finite.
using parameter_value = std::variant<bool, std::int64_t, double, std::string, std::vector<double>>;

// Characters of a text, or numbers of a list.
inline constexpr std::size_t max_parameter_length = 4096;
// Bytes of a value as JSON.
inline constexpr std::size_t max_parameter_bytes = std::size_t{256} << 10;

// Returns the value as JSON: true, 3, 2.0, "auto", [1.0,2.5]. A number always has a point or an exponent, so a whole
// number stays one. Bytes that are no UTF-8 become U+FFFD.
[[nodiscard]] ORC_API std::string to_json(const parameter_value& value);

// Reads a value from JSON. Anything else is a bad_argument, and `value` is then untouched: other types, a list with
// something else than numbers, numbers that a double cannot hold, more than max_parameter_bytes.
[[nodiscard]] ORC_API result from_json(std::string_view json, parameter_value& value);

}  // namespace orc
