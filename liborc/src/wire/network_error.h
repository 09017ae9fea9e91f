// What a failed connection means to a person.
#pragma once

#include <string>

namespace orc::wire {

// "connection refused: no program listens there, or a firewall rejects it". `error`: errno of connect(2), SO_ERROR or a
// socket that is connected.
[[nodiscard]] std::string why_unreachable(int error);

// The likely cause when nothing comes back at all.
inline constexpr const char* likely_cause_of_silence = "firewall, or the host is down?";

}  // namespace orc::wire
