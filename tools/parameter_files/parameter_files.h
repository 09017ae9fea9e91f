// Values of parameters as TOML.
#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "orc/directory.h"
#include "orc/parameters/parameter_value.h"
#include "orc/parameters/remote_parameters.h"
#include "orc/participant.h"
#include "orc/result.h"

namespace orc::cli {

inline constexpr std::size_t max_parameter_file = std::size_t{1} << 20;  // bytes

// Each `/` of a name begins a table, as a person would write it. Where a part of the name is a parameter itself, the
// rest stands in one quoted key.
[[nodiscard]] std::string to_toml(const std::map<std::string, parameter_value>& values);

// The parameters of a text, by name. A value is missing where no parameter can have what stands there.
// - bad_argument: the text is no TOML, names a parameter twice, or is above 1 MiB.
[[nodiscard]] result from_toml(std::string_view text, std::map<std::string, std::optional<parameter_value>>& values);

// Returns the values of all parameters that match `pattern`, without those that are read-only, as TOML. `outcomes` has
// one entry per parameter; those that failed are not in `toml`. Waits and fails as get_parameters does.
[[nodiscard]] result save_parameters(participant& by, directory& in, std::string_view pattern,
                                     std::chrono::nanoseconds timeout, std::string& toml,
                                     std::vector<parameter_outcome>& outcomes);

// Sets parameters from TOML, as set_parameters does. Fails as from_toml does, and no parameter was set then.
[[nodiscard]] result load_parameters(participant& by, directory& in, std::string_view toml,
                                     std::chrono::nanoseconds timeout, std::vector<parameter_outcome>& outcomes);

}  // namespace orc::cli
