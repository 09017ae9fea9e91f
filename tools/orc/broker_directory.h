// The directory of commands that ask the broker, and the texts and exit codes of its failures.
#pragma once

#include <string>

#include "base/process/stop_signal.h"
#include "orc/directory.h"

namespace orc::cli {

// Returns a directory whose calls end when `stop` is raised; `stop` must outlive it. An empty endpoint looks for the
// broker where participants do (ORC_BROKER, ...).
[[nodiscard]] directory broker_directory(const std::string& broker, const detail::stop_signal& stop);

// Of a call that failed. The text has no control characters.
[[nodiscard]] int exit_code_of(const result& failure);
[[nodiscard]] std::string text_of(const result& failure);

}  // namespace orc::cli
