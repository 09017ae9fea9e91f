// The type of a field of a ROS 2 message: "float64[3]", "string<=10[<=5]", "geometry_msgs/Point[]".
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "orc/schema.h"

namespace orc::detail {

struct ros2_type {
  field_kind kind = field_kind::structure;
  std::string name = {};       // of a message, as it was written
  std::size_t max_length = 0;  // of a string
  std::vector<dimension> dimensions = {};
};

// Nothing: the text is no type.
[[nodiscard]] std::optional<ros2_type> parse_ros2_type(std::string_view text);

// Returns whether the text is the name of a field, a constant or a message without its package.
[[nodiscard]] bool is_ros2_name(std::string_view text) noexcept;

}  // namespace orc::detail
