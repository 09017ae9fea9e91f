// Schemas of encoding "ros2msg": the text of a .msg file, and behind it those of the messages that it contains, each
// after a line of `=` and a line `MSG: pkg/Name`, as in MCAP files. Accepts what at least two of mcap-ros2-support,
// rosbags and Foxglove's parser accept.
#pragma once

#include <string>
#include <string_view>

#include "base/expected.h"
#include "orc/schema.h"

namespace orc::detail {

// `name` is the root's: "pkg/msg/Name" or "pkg/Name". The structures are named "pkg/msg/Name"; those that the root
// does not contain are left out. Error: what is wrong, with its place ("line 3: …").
[[nodiscard]] expected<schema> parse_ros2_schema(std::string_view text, std::string_view name);

// Returns "pkg/msg/Name" for "pkg/Name"; other texts are not changed.
[[nodiscard]] std::string ros2_full_name(std::string_view name);

}  // namespace orc::detail
