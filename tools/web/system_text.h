// The protocol's message "system".
#pragma once

#include <cstdint>
#include <string>

#include "tools/view/figures.h"

namespace orc::web {

// `figures` may be null: no broker has answered yet. Figures that are not known are null, times are in seconds.
[[nodiscard]] std::string system_text(const view::system_figures* figures, const std::string& problem,
                                      std::int64_t now_ns);

}  // namespace orc::web
