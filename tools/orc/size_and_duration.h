// Sizes and durations on the command line, in the same notation for every option.
#pragma once

#include <chrono>
#include <cstdint>
#include <string_view>

#include "base/expected.h"

namespace orc::cli {

// "256MB", "1GB", "64KiB", "4096". Decimal and binary units; at least 1, at most 2^60.
[[nodiscard]] detail::expected<std::uint64_t> size_of_text(std::string_view text);
// "10" and "10s" are seconds; "250ms", "10min", "1.5h", "2d". At most 1e9 s.
[[nodiscard]] detail::expected<std::chrono::nanoseconds> duration_of_text(
    std::string_view text, std::chrono::nanoseconds least = std::chrono::milliseconds(1));

}  // namespace orc::cli
