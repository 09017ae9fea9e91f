// Values, descriptions and requests as JSON.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "orc/parameters/parameter_description.h"
#include "orc/type_description.h"

namespace orc::detail {

using json = nlohmann::json;

// Bytes of the JSON Schema of a parameter.
inline constexpr std::size_t max_parameter_schema = std::size_t{256} << 10;

inline constexpr int max_json_depth = 64;

// Throws nlohmann's exceptions: a text is no UTF-8.
[[nodiscard]] json json_of(const parameter_value& value);
// The value in the type that it has in JSON. Nothing: no parameter has such a value.
[[nodiscard]] std::optional<parameter_value> value_of(const json& from);
// A whole number for a number, and a number without a fraction for a whole one. Other values stay as they are.
[[nodiscard]] parameter_value converted(parameter_value value, const parameter_value& to_type_of);

// What the topic carries.
[[nodiscard]] std::string sample_of(const parameter_value& value);
// The type of the topic. bad_argument: it would be too large, or a text is no UTF-8.
[[nodiscard]] result type_of(const parameter_description& from, type_description& type);
// Fills all but name and owner. False: this describes no parameter.
[[nodiscard]] bool read_type(const type_description& type, parameter_description& found);

// Parses JSON of at most `max_bytes` and max_json_depth. Nothing: it is none.
[[nodiscard]] std::optional<json> parse(std::string_view text, std::size_t max_bytes) noexcept;

}  // namespace orc::detail
