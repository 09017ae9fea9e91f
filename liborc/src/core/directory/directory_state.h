// Turns the broker's messages into the types of the public headers.
#pragma once

#include "orc/directory.h"
#include "wire/control.h"

namespace orc::detail {

[[nodiscard]] topic_state state_of(wire::topic_state from);
[[nodiscard]] participant_state state_of(wire::participant_info from);
[[nodiscard]] federation_state state_of(wire::peer_list from);

}  // namespace orc::detail
