#include "tools/orc/size_and_duration.h"

#include <charconv>
#include <cmath>
#include <optional>
#include <span>

#include "tools/orc/text.h"

namespace orc::cli {

namespace {

struct unit {
  std::string_view name;
  double factor;
};

constexpr unit size_units[] = {{"", 1},     {"B", 1},     {"kB", 1e3},   {"KB", 1e3},        {"MB", 1e6},
                               {"GB", 1e9}, {"TB", 1e12}, {"KiB", 1024}, {"MiB", 1048576.0}, {"GiB", 1073741824.0},
                               {"k", 1e3},  {"M", 1e6},   {"G", 1e9}};
constexpr unit time_units[] = {{"", 1e9},     {"ms", 1e6}, {"s", 1e9},    {"sec", 1e9},
                               {"min", 60e9}, {"m", 60e9}, {"h", 3600e9}, {"d", 86400e9}};

constexpr double max_size = 1152921504606846976.0;  // 2^60
constexpr double max_time_ns = 1e18;                // 30 years

// Nothing: not a number from 0 on with one of these units.
std::optional<double> measured(std::string_view text, std::span<const unit> units) {
  double number = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (problem != std::errc() || !std::isfinite(number) || number < 0) return std::nullopt;
  const std::string_view rest(end, static_cast<std::size_t>(text.data() + text.size() - end));
  for (const unit& each : units)
    if (each.name == rest) return number * each.factor;
  return std::nullopt;
}

}  // namespace

detail::expected<std::uint64_t> size_of_text(std::string_view text) {
  const auto found = measured(text, size_units);
  if (!found || *found > max_size || *found < 1)
    return error(errc::bad_argument, "'" + escaped(text) + "' is not a size, such as 256MB or 1GB");
  return static_cast<std::uint64_t>(*found);
}

detail::expected<std::chrono::nanoseconds> duration_of_text(std::string_view text, std::chrono::nanoseconds least) {
  const auto found = measured(text, time_units);
  if (!found || *found > max_time_ns || *found < static_cast<double>(least.count()))
    return error(errc::bad_argument, "'" + escaped(text) + "' is not a duration, such as 10 (seconds), 500ms or 10min");
  return std::chrono::nanoseconds(std::llround(*found));
}

}  // namespace orc::cli
