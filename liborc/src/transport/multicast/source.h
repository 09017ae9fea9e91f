// The address and port of a sender of datagrams.
#pragma once

#include "wire/ip_address.h"

namespace orc::detail::multicast {

using source = wire::ip_port;

}  // namespace orc::detail::multicast
