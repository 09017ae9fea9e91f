// How the network treats what a socket sends: orc::priority.
#pragma once

#include "orc/options.h"

namespace orc::detail {

// Once per socket, before it sends. Changes nothing for priority::normal.
void set_traffic_class(int fd, priority p) noexcept;

}  // namespace orc::detail
