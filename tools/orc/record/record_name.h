// Names of recordings.
#pragma once

#include <string>

#include "tools/orc/record/record_options.h"

namespace orc::cli {

// What -o means: the name with its extension; without a name, one from the local time: orc_2026-11-24_23-55-00.mcap.
[[nodiscard]] std::string recording_name(const record_options& options);

// "run.mcap", else "run_0001.mcap", …: the first of them that does not exist.
[[nodiscard]] std::string free_name(const std::string& path);

}  // namespace orc::cli
