// A clock that a replay repeats (liborc/doc/guide/replay.md).
#pragma once

#include <cstdint>

#include "orc/version.h"

namespace orc {

// Returns CLOCK_MONOTONIC in ns. While the process is traced (ORC_TRACE), the value is logged; a replay returns it
// again. A program that takes its times from here, from message::stamp_ns() or from message::age_ns() can be replayed
// exactly; one that reads clocks itself cannot. Any thread. Never waits.
[[nodiscard]] ORC_API std::int64_t monotonic_ns() noexcept;

}  // namespace orc
