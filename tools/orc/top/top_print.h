// Prints one look at the running system, as a table or as JSON.
#pragma once

#include <string>

#include "tools/orc/top/top_options.h"
#include "tools/view/figures.h"

namespace orc::cli {

// A table of the view's rows that pass the filter, in the order of their names, for people and scripts: one line each,
// no colours, nothing cut.
[[nodiscard]] std::string top_table(const view::system_figures& figures, top_view shown, const std::string& filter);

// Everything, as one JSON document. The filter holds for the topics, participants and hosts alike.
[[nodiscard]] std::string top_json(const view::system_figures& figures, const std::string& filter);

// Waits until the rates are known, at most about 2.5 s after the broker's first answer, and prints. Returns the exit
// code.
[[nodiscard]] int print_top(const top_options& options);

}  // namespace orc::cli
