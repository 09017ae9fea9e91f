// Values, descriptions, requests and replies as JSON.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "orc/parameters/parameter_description.h"
#include "orc/type_description.h"

namespace orc::detail {

// Bytes of the JSON Schema of a parameter.
inline constexpr std::size_t max_parameter_schema = std::size_t{256} << 10;

// A whole number for a number, and a number without a fraction for a whole one. Other values stay as they are.
[[nodiscard]] parameter_value converted(parameter_value value, const parameter_value& to_type_of);
[[nodiscard]] bool is_utf8(const std::string& text);

// What the topic and replies carry.
[[nodiscard]] std::string sample_of(const parameter_value& value);
// Reads it; the value in the type that it has in JSON. Nothing: this is none.
[[nodiscard]] std::optional<parameter_value> value_in(std::string_view sample);

// The type of the topic. bad_argument: it would be too large, or a text is no UTF-8.
[[nodiscard]] result type_of(const parameter_description& from, type_description& type);
// Fills all but name and owner. False: this describes no parameter.
[[nodiscard]] bool read_type(const type_description& type, parameter_description& found);

// What a request asks for: the value of a parameter, or to set it.
struct parameter_wish {
  std::string name;
  bool sets = false;
  std::optional<parameter_value> value = {};  // if it sets; nothing: no parameter has such a value
};
[[nodiscard]] std::string request_of(const std::string& name, const std::optional<parameter_value>& value);
// Nothing: this is no request.
[[nodiscard]] std::optional<parameter_wish> wish_in(std::string_view request);

}  // namespace orc::detail
