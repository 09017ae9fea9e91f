// A quick look at whether anything listens at an endpoint, so that a missing broker is an answer and not a time-out.
#pragma once

#include <string>
#include <vector>

namespace orc::cli {

// The endpoints to try, in this order: each name of a host once for each of its addresses, in numbers. A name that no
// host has stays. May ask the resolver.
[[nodiscard]] std::vector<std::string> ways_to(const std::vector<std::string>& endpoints);

// Empty when something listens at the ZeroMQ endpoint, or when that cannot be told; otherwise why not: "nothing there",
// "connection refused: ...", "no such host" for a name. Takes at most 200 ms.
[[nodiscard]] std::string why_silent(const std::string& endpoint);

// For endpoints that were found by searching: why participants ignore this one, because another user could have made
// it. Empty: they do not.
[[nodiscard]] std::string why_ignored(const std::string& endpoint);

}  // namespace orc::cli
