// Types from files: what `--type FILE:NAME`, `orc type` and `--lcm-types` read.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/expected.h"
#include "orc/type_description.h"

namespace orc::cli {

// Whether FILE[:NAME] names a file that exists.
[[nodiscard]] bool names_file(const std::string& words);

// Reads the type NAME of a file:
// - .lcm: LCM definitions; types that it uses may be in other .lcm files of the same directory
// - .bfbs, .fbs: FlatBuffers
// - .proto; .pb and .desc: a FileDescriptorSet
// - .msg: ROS 2; NAME is "package/msg/Name"
// - .json: a struct schema, else a JSON schema
// NAME may be left out where the file has one type only. The error says what to write.
[[nodiscard]] detail::expected<type_description> type_from_file(const std::string& words);

// Returns every type that these .lcm files, and the .lcm files of these directories, define.
[[nodiscard]] detail::expected<std::vector<type_description>> lcm_types_in(const std::vector<std::string>& paths);

}  // namespace orc::cli
