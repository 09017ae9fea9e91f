// The files that are installed beside a program: completion for bash, zsh and fish, and a manual page.
#pragma once

#include <optional>

#include "tools/command_line/cli_fwd.h"

namespace orc::cli {

// `PROGRAM --generate DIRECTORY`, for the build: writes PROGRAM, _PROGRAM, PROGRAM.fish and PROGRAM.<section> there,
// from the description of the command line that `app` is. Returns the exit code, or nothing when the arguments are
// others. `see_also`: other pages of the manual, such as "orc-broker(8)".
[[nodiscard]] std::optional<int> generate_pages(const CLI::App& app, int section, const char* see_also, int argc,
                                                char** argv);

}  // namespace orc::cli
