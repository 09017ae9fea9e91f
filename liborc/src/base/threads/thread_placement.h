// How and where a thread runs.
#pragma once

#include <pthread.h>

#include <span>

#include "orc/result.h"

namespace orc::detail {

// 1 to 99: SCHED_FIFO. 0: SCHED_OTHER. -1: as it is. No CPUs: as it is. Changes both or nothing. The sentences of
// errors call the arguments by these names.
[[nodiscard]] result place_thread(pthread_t thread, int priority, std::span<const int> cpus, const char* priority_name,
                                  const char* cpus_name);

}  // namespace orc::detail
