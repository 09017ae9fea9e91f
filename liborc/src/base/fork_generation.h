// Tells a process from the parent that forked it.
#pragma once

namespace orc::detail {

// Counts the forks from now on. Call it before anything is made that depends on the count. Any thread.
void count_forks();

// Grows by one in the child of every counted fork(): what was made before belongs to the parent.
[[nodiscard]] unsigned fork_generation() noexcept;

}  // namespace orc::detail
