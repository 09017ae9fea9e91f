#include "schema/lcm/lcm_literals.h"

#include <charconv>
#include <cmath>
#include <limits>

namespace orc::detail {
namespace {

template <typename T>
bool fits(std::optional<std::int64_t> value) noexcept {
  return value && *value >= std::numeric_limits<T>::min() && *value <= std::numeric_limits<T>::max();
}

std::optional<double> real(std::string_view text) noexcept {
  if (text.starts_with('+')) text.remove_prefix(1);
  double value = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  if (read.ec != std::errc() || read.ptr != text.data() + text.size()) return {};
  return value;
}

}  // namespace

std::optional<std::int64_t> lcm_integer(std::string_view text) noexcept {
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  int base = 10;
  if (text.starts_with("0x") || text.starts_with("0X")) {
    base = 16;
    text.remove_prefix(2);
  } else if (text.size() > 1 && text.front() == '0') {
    base = 8;
  }
  std::uint64_t value = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (text.empty() || read.ec != std::errc() || read.ptr != text.data() + text.size()) return {};
  constexpr std::uint64_t most = std::numeric_limits<std::int64_t>::max();
  if (value > most + (negative ? 1 : 0)) return {};
  return static_cast<std::int64_t>(negative ? 0 - value : value);
}

bool lcm_constant_fits(std::string_view type, std::string_view text) noexcept {
  if (type == "int8_t") return fits<std::int8_t>(lcm_integer(text));
  if (type == "int16_t") return fits<std::int16_t>(lcm_integer(text));
  if (type == "int32_t") return fits<std::int32_t>(lcm_integer(text));
  if (type == "int64_t") return fits<std::int64_t>(lcm_integer(text));
  if (type == "double") return real(text).has_value();
  const auto value = real(text);
  return type == "float" && value && std::abs(*value) <= static_cast<double>(std::numeric_limits<float>::max());
}

}  // namespace orc::detail
