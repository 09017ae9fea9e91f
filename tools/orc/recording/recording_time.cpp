#include "tools/orc/recording/recording_time.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <limits>

#include "tools/orc/size_and_duration.h"
#include "tools/orc/text.h"

namespace orc::cli {

namespace {

constexpr std::time_t max_seconds = 9'000'000'000;  // fits in 64 bits of nanoseconds

std::optional<double> number_in(std::string_view text) {
  double number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
  if (text.empty() || read.ec != std::errc{} || read.ptr != text.data() + text.size()) return std::nullopt;
  return number;
}

// Reads "Z", "+01:00", "+0100" or "-05"; nothing: it is none of these.
std::optional<std::int64_t> offset_in(std::string_view text) {
  if (text == "Z" || text == "z") return 0;
  int hours = 0;
  int minutes = 0;
  int length = 0;
  const std::string copy(text.substr(1));
  const bool read = (std::sscanf(copy.c_str(), "%2d:%2d%n", &hours, &minutes, &length) == 2 ||
                     std::sscanf(copy.c_str(), "%2d%2d%n", &hours, &minutes, &length) == 2 ||
                     std::sscanf(copy.c_str(), "%2d%n", &hours, &length) == 1) &&
                    static_cast<std::size_t>(length) == copy.size();
  if (!read || hours < 0 || hours > 23 || minutes < 0 || minutes > 59) return std::nullopt;
  return (text[0] == '-' ? -1 : 1) * (hours * 3600 + minutes * 60) * second_ns;
}

std::optional<std::int64_t> iso_time_in(const std::string& text) {
  std::tm date{};
  int length = 0;
  if (std::sscanf(text.c_str(), "%4d-%2d-%2d%*1[T ]%2d:%2d%n", &date.tm_year, &date.tm_mon, &date.tm_mday,
                  &date.tm_hour, &date.tm_min, &length) != 5 ||
      length == 0)
    return std::nullopt;
  std::string_view rest = std::string_view(text).substr(static_cast<std::size_t>(length));
  double seconds = 0;
  if (rest.starts_with(':')) {
    const std::size_t end = std::min(rest.find_first_not_of("0123456789.", 1), rest.size());
    const auto read = number_in(rest.substr(1, end - 1));
    if (!read || *read >= 61) return std::nullopt;
    seconds = *read;
    rest.remove_prefix(end);
  }
  if (date.tm_year < 1970 || date.tm_mon < 1 || date.tm_mon > 12 || date.tm_mday < 1 || date.tm_mday > 31 ||
      date.tm_hour > 23 || date.tm_min > 59)
    return std::nullopt;
  std::optional<std::int64_t> offset;
  if (!rest.empty()) {
    if (rest[0] != 'Z' && rest[0] != 'z' && rest[0] != '+' && rest[0] != '-') return std::nullopt;
    offset = offset_in(rest);
    if (!offset) return std::nullopt;
  }
  date.tm_year -= 1900;
  date.tm_mon -= 1;
  date.tm_isdst = -1;
  const std::time_t whole = offset ? timegm(&date) : mktime(&date);
  if (whole == -1 || whole > max_seconds) return std::nullopt;
  return whole * second_ns + std::llround(seconds * 1e9) - offset.value_or(0);
}

}  // namespace

detail::expected<recording_time> recording_time::parse(const std::string& text) {
  if (const auto offset = duration_of_text(text, std::chrono::nanoseconds(0)))
    return recording_time{true, offset->count()};
  if (const auto time = iso_time_in(text)) return recording_time{false, *time};
  return error(errc::bad_argument,
               "'" + escaped(text) +
                   "' is not a time: write the time from the beginning (12.5, 10min) or a date and time "
                   "(2026-11-24T10:15:00Z)");
}

std::int64_t recording_time::in(std::int64_t first_ns) const noexcept {
  if (!from_beginning) return ns;
  return first_ns > std::numeric_limits<std::int64_t>::max() - ns ? std::numeric_limits<std::int64_t>::max()
                                                                  : first_ns + ns;
}

CLI::Option* add_recording_time(CLI::App& command, const char* name, std::optional<recording_time>& time,
                                const char* help) {
  const auto take = [&time, name](const std::string& text) {
    const auto parsed = recording_time::parse(text);
    if (!parsed) throw CLI::ValidationError(name, parsed.error().message());
    time = *parsed;
  };
  return command.add_option_function<std::string>(name, take, help)->type_name("TIME");
}

std::string iso_text(std::int64_t ns) {
  std::int64_t seconds = ns / second_ns;
  std::int64_t rest = ns % second_ns;
  if (rest < 0) {
    rest += second_ns;
    --seconds;
  }
  const std::time_t whole = seconds;
  std::tm date{};
  gmtime_r(&whole, &date);
  char text[64];
  const std::size_t length = std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &date);
  char fraction[16];
  std::snprintf(fraction, sizeof fraction, ".%03dZ", static_cast<int>(rest / 1'000'000));
  return std::string(text, length) + fraction;
}

std::string position_text(std::int64_t ns) {
  const std::int64_t tenths = std::max<std::int64_t>(ns, 0) / (second_ns / 10);
  const std::int64_t seconds = tenths / 10;
  char text[48];
  if (seconds >= 3600) {
    std::snprintf(text, sizeof text, "%lld:%02d:%02d.%d", static_cast<long long>(seconds / 3600),
                  static_cast<int>(seconds / 60 % 60), static_cast<int>(seconds % 60), static_cast<int>(tenths % 10));
  } else {
    std::snprintf(text, sizeof text, "%d:%02d.%d", static_cast<int>(seconds / 60), static_cast<int>(seconds % 60),
                  static_cast<int>(tenths % 10));
  }
  return text;
}

}  // namespace orc::cli
