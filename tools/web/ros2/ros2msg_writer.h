// Schemas of encoding struct and lcm as ROS 2's message definitions.
#pragma once

#include <string>
#include <string_view>

#include "orc/schema.h"

namespace orc::web {

// A type as viewers of ROS 2 take it.
struct ros2msg {
  std::string name = {};  // "orc/msg/RobotState"
  std::string text = {};  // the fields; behind them each nested type, after a line of "=" and a line "MSG: orc/Name"
};

// Writes the fields in the order of the schema. `made` is untouched unless it returns true; `problem` says why a type
// has no definition in ROS 2: it contains itself, or a limit is violated.
// - Names that ROS 2 does not allow are changed (ros2_names.h), and stay unique. The comment of the field has its own.
// - An array of several dimensions has one, in row-major order. It is of fixed size when all of them are.
// - Arrays of char are strings; a single char is one, too.
// - Named values become constants in front of their field: MODE_IDLE for `idle` of `mode`.
// - Units and comments are comments. A type without fields gets the field that ROS 2 gives it.
// Constants of LCM are left out: viewers would take them for the values of the next field.
[[nodiscard]] bool write_ros2msg(const schema& from, std::string_view type_name, ros2msg& made, std::string& problem);

}  // namespace orc::web
