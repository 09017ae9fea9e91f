// Distinguishes a forked child from its parent: locks that the child inherits may be held for ever.
#pragma once

namespace orc::detail {

// Grows by one in the child of every fork() after the first call.
[[nodiscard]] unsigned process_generation() noexcept;

}  // namespace orc::detail
