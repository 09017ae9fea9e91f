// Applies orc::priority to a socket: how the network treats what it sends.
#pragma once

#include "orc/options.h"

namespace orc::detail {

// Call it once per socket, before it sends. Changes nothing for priority::normal.
void set_traffic_class(int fd, priority p) noexcept;

}  // namespace orc::detail
