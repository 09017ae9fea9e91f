// A quick look at whether anything listens at an endpoint, so that a missing broker is an answer and not a time-out.
#pragma once

#include <string>

namespace orc::cli {

// Empty when something listens at the ZeroMQ endpoint, or when that cannot be told; otherwise why not:
// "nothing there", "nobody listens", "no permission". Takes at most 200 ms.
[[nodiscard]] std::string why_silent(const std::string& endpoint);

// For endpoints that were found by searching: why participants ignore this one, because another user could have made
// it. Empty: they do not.
[[nodiscard]] std::string why_ignored(const std::string& endpoint);

}  // namespace orc::cli
