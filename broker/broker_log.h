#pragma once

#include <functional>
#include <string_view>

namespace orc {

enum class broker_log_level { error, warning, info, debug };

// Receives one line without its end. Called on the broker's thread; must not block.
using broker_log = std::function<void(broker_log_level, std::string_view)>;

}  // namespace orc
