// Names that ROS 2's message files allow, made from any text.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

namespace orc::web {

// Each function returns the same name for the same text, and a name that is allowed and short enough as it is.
// "jointPos" becomes "joint_pos", and "3d" becomes "field_3d".
[[nodiscard]] std::string ros2_field_name(std::string_view text);
// "idle" becomes "IDLE".
[[nodiscard]] std::string ros2_constant_name(std::string_view text);
// "robot.arm_state" becomes "RobotArmState".
[[nodiscard]] std::string ros2_type_name(std::string_view text);

// The names of one scope.
class unique_names {
 public:
  // Returns whether the name is new.
  bool add(const std::string& name) { return names_.insert(name).second; }
  // Adds the name if it is new, else the name with `separator` and the first number from 2 on that makes it new.
  // Returns what was added.
  std::string add_variant(const std::string& name, std::string_view separator);

 private:
  std::unordered_set<std::string> names_;
  std::unordered_map<std::string, std::size_t> next_;  // name: the number to try next
};

}  // namespace orc::web
