#include "schema/ros2/ros2_type.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <utility>

#include "schema/limits.h"

namespace orc::detail {
namespace {

constexpr std::array<std::pair<std::string_view, field_kind>, 15> builtin_types{{{"bool", field_kind::boolean},
                                                                                 {"byte", field_kind::uint8},
                                                                                 {"char", field_kind::uint8},
                                                                                 {"int8", field_kind::int8},
                                                                                 {"uint8", field_kind::uint8},
                                                                                 {"int16", field_kind::int16},
                                                                                 {"uint16", field_kind::uint16},
                                                                                 {"int32", field_kind::int32},
                                                                                 {"uint32", field_kind::uint32},
                                                                                 {"int64", field_kind::int64},
                                                                                 {"uint64", field_kind::uint64},
                                                                                 {"float32", field_kind::float32},
                                                                                 {"float64", field_kind::float64},
                                                                                 {"string", field_kind::string},
                                                                                 {"wstring", field_kind::wide_string}}};

std::optional<std::size_t> bound(std::string_view text) noexcept {
  std::uint32_t value = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  if (read.ec != std::errc() || read.ptr != text.data() + text.size()) return {};
  if (value > static_cast<std::uint32_t>(std::numeric_limits<std::int32_t>::max())) return {};
  return value;
}

// "pkg/Name", "pkg/msg/Name" or "Name".
bool is_message_name(std::string_view text) noexcept {
  for (int parts = 1; parts <= 3; ++parts) {
    const auto slash = text.find('/');
    if (!is_ros2_name(text.substr(0, slash))) return false;
    if (slash == std::string_view::npos) return true;
    text.remove_prefix(slash + 1);
  }
  return false;
}

// Reads "[]", "[3]" or "[<=3]" without its brackets.
std::optional<dimension> array_of(std::string_view inside) {
  dimension made;
  made.variable = inside.empty() || inside.starts_with("<=");
  if (inside.empty()) return made;
  if (made.variable) inside.remove_prefix(2);
  const auto size = bound(inside);
  if (!size || (made.variable && *size == 0)) return {};
  made.size = *size;
  return made;
}

}  // namespace

bool is_ros2_name(std::string_view text) noexcept {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  const auto fits = [&](char c) { return letter(c) || (c >= '0' && c <= '9') || c == '_'; };
  return !text.empty() && text.size() <= max_schema_name_bytes && letter(text.front()) &&
         std::all_of(text.begin(), text.end(), fits);
}

std::optional<ros2_type> parse_ros2_type(std::string_view text) {
  ros2_type made;
  if (text.ends_with(']')) {
    const auto open = text.rfind('[');
    if (open == std::string_view::npos) return {};
    auto array = array_of(text.substr(open + 1, text.size() - open - 2));
    if (!array) return {};
    made.dimensions.push_back(std::move(*array));
    text = text.substr(0, open);
  }
  if (const auto limit = text.find("<="); limit != std::string_view::npos) {
    const auto length = bound(text.substr(limit + 2));
    text = text.substr(0, limit);
    if (!length || *length == 0 || (text != "string" && text != "wstring")) return {};
    made.max_length = *length;
  }
  for (const auto& [name, kind] : builtin_types) {
    if (name != text) continue;
    made.kind = kind;
    return made;
  }
  if (!is_message_name(text)) return {};
  made.name = text;
  // The words of ROS 1, which ROS 2 reads for compatibility.
  if (text == "time") made.name = "builtin_interfaces/Time";
  if (text == "duration") made.name = "builtin_interfaces/Duration";
  return made;
}

}  // namespace orc::detail
