// Values of parameters as TOML.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "orc/parameters/parameter_value.h"
#include "orc/result.h"

namespace orc::detail {

// Each `/` of a name begins a table, as a person would write it. Where a part of the name is a parameter itself, the
// rest stands in one quoted key.
[[nodiscard]] std::string to_toml(const std::map<std::string, parameter_value>& values);

// The parameters of a text, by name. A value is missing where no parameter can have what stands there. bad_argument: as
// load_parameters.
[[nodiscard]] result from_toml(std::string_view text, std::map<std::string, std::optional<parameter_value>>& values);

}  // namespace orc::detail
