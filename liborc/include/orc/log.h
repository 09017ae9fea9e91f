// Log messages for people. The library never prints: it passes them to a callback.
#pragma once

#include <functional>
#include <string_view>

namespace orc {

// How important a log message is.
enum class log_level : unsigned char { error, warning, info, debug };

// Receives one log message. Called on the participant's housekeeping thread or inside a set-up call, never inside
// send_msg or recv_msg. Must not throw, must not call back into the participant, and should be quick.
using log_callback = std::function<void(log_level, std::string_view)>;

}  // namespace orc
