// How long a call waits.
#pragma once

#include <chrono>

namespace orc {

// Without limit: for each timeout, and for each option that is one.
inline constexpr std::chrono::nanoseconds forever = std::chrono::nanoseconds::max();

namespace detail {

// -1 is for ever. Other negative timeouts stay negative, and every call refuses those with bad_argument.
[[nodiscard]] constexpr std::chrono::nanoseconds timeout_of(int timeout_ms) noexcept {
  return timeout_ms == -1 ? forever : std::chrono::milliseconds(timeout_ms);
}

}  // namespace detail
}  // namespace orc
