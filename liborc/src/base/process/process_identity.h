// Identifies a process, so that others can check whether it still lives. schemas/PROTOCOL.md, "Host identity".
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace orc::detail {

// boot_id of the kernel + ":" + inode of the pid namespace. Two processes with the same identity see the same pids.
// Empty when /proc does not show it.
[[nodiscard]] std::string host_identity();

// Clock ticks since boot when the process started (/proc/<pid>/stat, field 22); nothing when it cannot be read.
[[nodiscard]] std::optional<std::uint64_t> process_start_time(std::uint32_t pid);

enum class process_state { alive, dead, unknown };

// Checks whether the process with this pid and start time still exists. Valid only when its host identity is ours. A
// zombie is dead. Returns `unknown` when /proc hides the process, or when pid or start_time is 0.
[[nodiscard]] process_state check_process(std::uint32_t pid, std::uint64_t start_time);

// Returns whether no process with this pid exists. One system call. It misses reused pids and zombies, which
// check_process finds.
[[nodiscard]] bool pid_is_gone(std::uint32_t pid);

}  // namespace orc::detail
