// What a program says to a wrong command line.
#pragma once

#include "tools/command_line/cli_fwd.h"

namespace orc::cli {

// For scripts, in place of CLI11's thirty codes.
inline constexpr int wrong_usage = 2;

// Prints what was asked for (--help, --version) to stdout and returns 0, or says on stderr, in one line, what is wrong
// with the command line, and returns `wrong_usage`. Names the nearest option or command of a mistyped one.
int report(const CLI::App& app, const CLI::ParseError& error);

}  // namespace orc::cli
