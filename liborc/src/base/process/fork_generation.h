// Distinguishes a forked child from its parent.
#pragma once

namespace orc::detail {

// Starts to count forks. Call it before you make objects that depend on the count. Any thread.
void count_forks();

// Grows by one in the child of every counted fork(). Objects made before belong to the parent.
[[nodiscard]] unsigned fork_generation() noexcept;

}  // namespace orc::detail
