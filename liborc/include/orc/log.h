// The library never prints: what a person may want to know goes to a callback.
#pragma once

#include <functional>
#include <string_view>

namespace orc {

enum class log_level : unsigned char { error, warning, info, debug };

// Called from the participant's housekeeping thread or from inside a set-up call, never from send_msg or recv_msg.
// Must not throw, must not call back into the participant, and should be quick.
using log_callback = std::function<void(log_level, std::string_view)>;

}  // namespace orc
