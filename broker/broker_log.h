#pragma once

#include <functional>
#include <string_view>

namespace orc {

enum class broker_log_level { error, warning, info, debug };

// Called from the broker's thread; must not block. The text is one line without an end of line.
using broker_log = std::function<void(broker_log_level, std::string_view)>;

}  // namespace orc
