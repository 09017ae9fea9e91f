// Which web pages may reach the server. A browser runs pages of strangers, and these can open connections to this
// machine: by Origin, the server tells them from its own page; by Host, it notices names of strangers that lead here
// ("DNS rebinding").
#pragma once

#include <string>
#include <string_view>

#include "base/network/ip_address.h"

namespace orc::web {

// Whether the Host header of a request that came in at this address may stand there: localhost or a number for
// loopback; else the number of the address that it came in at, or this host's own name. `own_name`: gethostname(2).
[[nodiscard]] bool is_own_host(std::string_view host, const detail::ip_port& local, std::string_view own_name);

// Whether a WebSocket with this Origin header may be opened: it is the page that the same Host serves.
[[nodiscard]] bool is_own_origin(std::string_view origin, std::string_view host);

}  // namespace orc::web
