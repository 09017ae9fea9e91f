// What a program with a control loop asks of the kernel (liborc/doc/guide/real-time.md). Linux only gives it to a
// program with the permission; each call says what is missing. Not covered by a replay.
#pragma once

#include <cstddef>
#include <span>

#include "orc/result.h"
#include "orc/version.h"

namespace orc {

// For lock_memory.
struct memory_lock_options {
  // Bytes of the calling thread's stack that are touched now, at most half of what the thread may use. Threads that
  // start later have their whole stack locked.
  std::size_t stack_bytes = std::size_t{256} << 10;
  // Bytes of heap that are taken now and stay with the process, so that later allocations of the calling thread find
  // touched memory.
  std::size_t heap_bytes = std::size_t{16} << 20;
};

// Locks the memory of the process, now and in the future (mlockall), so that no page is swapped out or touched for the
// first time in a control loop. Freed memory stays with the process from then on. Call it once, before the threads of
// the control loops start and before participants are made. Needs RLIMIT_MEMLOCK (ulimit -l, LimitMEMLOCK=infinity in a
// systemd unit) or CAP_IPC_LOCK; otherwise no_permission. Any thread.
[[nodiscard]] ORC_API result lock_memory(const memory_lock_options& options = {}) noexcept;

// Gives the calling thread SCHED_FIFO with this priority, 1 to 99, or SCHED_OTHER with 0; and lets it run on these CPUs
// only, or, when there are none, where it could run before. Threads that it starts inherit both. bad_argument: another
// priority, or a CPU that the host does not have or this process may not use. Needs RLIMIT_RTPRIO (ulimit -r,
// LimitRTPRIO=99) or CAP_SYS_NICE; otherwise no_permission, and nothing has changed.
[[nodiscard]] ORC_API result set_realtime(int priority, std::span<const int> cpus = {}) noexcept;

}  // namespace orc
