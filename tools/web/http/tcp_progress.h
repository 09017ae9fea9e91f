// What the kernel knows about a TCP connection.
#pragma once

#include <cstdint>

namespace orc::web {

// How many bytes the other end has acknowledged, in all; 0: not known.
[[nodiscard]] std::uint64_t acknowledged_bytes(int socket) noexcept;

}  // namespace orc::web
