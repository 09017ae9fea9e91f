// What a program says of its parameter.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "orc/directory.h"
#include "orc/parameters/parameter_value.h"
#include "orc/result.h"
#include "orc/version.h"

namespace orc {

// The name of the type of a parameter's topic.
inline constexpr std::string_view parameter_type_name = "orc.Parameter";

// A parameter, as its program declares it.
struct parameter_description {
  std::string name = {};                      // full name of the parameter, and of its topic
  participant_state owner = {};               // the program that has it
  parameter_value initial = {};               // the program's default. All values have its type
  std::optional<parameter_value> min = {};    // least number, of each number of a list
  std::optional<parameter_value> max = {};    // greatest number, of each number of a list
  std::size_t min_length = 0;                 // of a list
  std::size_t max_length = 0;                 // of a list or, in characters, of a text; 0 for other types
  std::vector<parameter_value> choices = {};  // the only values that are allowed; empty: any
  std::string description = {};               // for people
  std::string unit = {};                      // for people: "N", "rad/s"
  bool read_only = false;                     // other programs cannot set it
};

// Returns what values are allowed, for people: "a number from 0.0 to 10.0 N".
[[nodiscard]] ORC_API std::string describe(const parameter_description& parameter);

// Returns ok when the parameter may have this value. Otherwise bad_argument with a sentence that says what is allowed.
// The program's own function (parameter_options::validate) is not asked.
[[nodiscard]] ORC_API result check_value(const parameter_description& parameter, const parameter_value& value);

}  // namespace orc
