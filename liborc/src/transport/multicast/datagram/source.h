// The address and port of a sender of datagrams.
#pragma once

#include "base/network/ip_address.h"

namespace orc::detail::multicast {

using source = ip_port;

}  // namespace orc::detail::multicast
