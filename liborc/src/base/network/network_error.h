// Explains failed connections to people.
#pragma once

#include <string>

namespace orc::detail {

// Returns "connection refused: no program listens there, or a firewall rejects it". `error`: errno of connect(2),
// SO_ERROR, or the error of a connected socket.
[[nodiscard]] std::string why_unreachable(int error);

// The likely cause when no answer comes at all.
inline constexpr const char* likely_cause_of_silence = "firewall, or the host is down?";

}  // namespace orc::detail
