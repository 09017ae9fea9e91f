// Checks an MCAP file from its first byte to its last.
#pragma once

#include <string>
#include <vector>

#include "files/input_file.h"
#include "orc/result.h"

namespace orc::recording::detail {

inline constexpr std::size_t max_problems = 100;

// `no_summary`: what is broken in the summary, or "". Errors are those of the system.
result check_mcap(const input_file& file, const std::string& no_summary, std::vector<std::string>& problems);

}  // namespace orc::recording::detail
