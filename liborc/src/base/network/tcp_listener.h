// Makes listening tcp sockets, for IPv4 and IPv6.
#pragma once

#include "base/network/ip_address.h"

namespace orc::detail {

// Returns a non-blocking socket that listens at `at`, and sets `at` to its actual address. Port 0: a free one; `::`:
// both families. Connections of an ended program do not block a named port for the next program. Two listeners still
// exclude each other. Returns -1 and sets errno on failure.
[[nodiscard]] int listen_tcp(ip_port& at, int backlog) noexcept;

// Same at all addresses of this host: `::`, or 0.0.0.0 where the kernel has no IPv6.
[[nodiscard]] int listen_tcp_everywhere(ip_port& at, int backlog) noexcept;

}  // namespace orc::detail
