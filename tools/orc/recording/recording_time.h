// A moment of a recording on the command line: "12.5" or "10min" from its beginning, or "2026-11-24T10:15:00Z".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/expected.h"
#include "tools/command_line/cli_fwd.h"

namespace orc::cli {

inline constexpr std::int64_t second_ns = 1'000'000'000;

struct recording_time {
  bool from_beginning = true;
  std::int64_t ns = 0;  // from the beginning, or since the Unix epoch

  // Takes a duration, or a date and time as in ISO 8601: with Z or an offset ("+01:00"), else in local
  // time.
  [[nodiscard]] static detail::expected<recording_time> parse(const std::string& text);

  // In ns since the Unix epoch, of a recording that begins then.
  [[nodiscard]] std::int64_t in(std::int64_t first_ns) const noexcept;
};

// Adds an option that takes such a time.
CLI::Option* add_recording_time(CLI::App& command, const char* name, std::optional<recording_time>& time,
                                const char* help);

// "2026-11-24T10:15:00.250Z".
[[nodiscard]] std::string iso_text(std::int64_t ns);
// "1:02:03.4", "0:07.0": a time from the beginning, rounded down.
[[nodiscard]] std::string position_text(std::int64_t ns);

}  // namespace orc::cli
