// Numbers as LCM's type language writes them: those that C's strtoll() with base 0 and strtod() read.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace orc::detail {

// Returns the value of "-12", "0x1F" or "017", which is octal.
[[nodiscard]] std::optional<std::int64_t> lcm_integer(std::string_view text) noexcept;

// Returns whether the text is a number that fits in a constant of the type: int8_t, int16_t, int32_t, int64_t, float or
// double.
[[nodiscard]] bool lcm_constant_fits(std::string_view type, std::string_view text) noexcept;

}  // namespace orc::detail
