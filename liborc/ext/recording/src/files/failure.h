// Errors of files, in one form.
#pragma once

#include <string>
#include <string_view>

#include "orc/result.h"

namespace orc::recording::detail {

// "cannot write run.mcap: No space left on device"
result system_failure(std::string_view what, const std::string& path, int error_number);
// "run.mcap: the chunk at byte 4711 has another checksum than its data"
result broken(const std::string& path, std::string_view what);

}  // namespace orc::recording::detail
