// Listening tcp sockets, for IPv4 and IPv6 alike.
#pragma once

#include "wire/ip_address.h"

namespace orc::wire {

// A non-blocking socket that listens at `at`, which is then where it does; port 0: a free one. `::` is both families.
// Connections of an ended program do not keep a port that was named from the next one; two listeners still exclude each
// other. -1: no, and errno says why.
[[nodiscard]] int listen_tcp(ip_port& at, int backlog) noexcept;

// The same at all addresses of this host: `::`, or 0.0.0.0 where the kernel has no IPv6.
[[nodiscard]] int listen_tcp_everywhere(ip_port& at, int backlog) noexcept;

}  // namespace orc::wire
