// Where ROS 2 keeps its message files: PACKAGE/msg/Name.msg, packages beside each other, and the installed ones in the
// directories of AMENT_PREFIX_PATH.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

namespace orc::cli {

// Returns "package/msg/Name" for PACKAGE/msg/Name.msg. The package's name is that of its package.xml, or of its
// directory. Empty: the file lies elsewhere.
[[nodiscard]] std::string ros2_name_of(const std::filesystem::path& file);

// Reads a file; nothing: it cannot.
using file_reader = std::function<std::optional<std::string>(const std::filesystem::path&)>;

// Returns the text of this file, of message `name`, and behind it those of the messages that it uses and does not
// define. Messages that are not found are left out.
[[nodiscard]] std::string with_ros2_neighbours(const std::filesystem::path& file, const std::string& name,
                                               std::string text, const file_reader& read);

}  // namespace orc::cli
