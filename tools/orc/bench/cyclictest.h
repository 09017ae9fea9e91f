// cyclictest of Debian's rt-tests, the usual measure of a kernel: how late a timer wakes a thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/expected.h"
#include "tools/support/summary.h"

namespace orc::cli {

// Whether the program is there.
[[nodiscard]] bool has_cyclictest();

struct wake_ups {
  bench::summary late_us;
  std::uint64_t missed = 0;  // more than a period late
};

// A thread that wakes each millisecond. Priority 0: without SCHED_FIFO.
[[nodiscard]] detail::expected<wake_ups> run_cyclictest(double seconds, int priority, int cpu);

// The histogram that it prints; nothing: this is none.
[[nodiscard]] std::optional<wake_ups> parse_cyclictest(const std::string& output);

}  // namespace orc::cli
