#include "json/json_io.h"

#include <nlohmann/json.hpp>
#include <utility>

namespace orc::detail {

namespace {

template <class Json>
[[nodiscard]] std::optional<json_problem> read(std::string_view text, Json& found, std::size_t max_depth) {
  if (max_depth != any_json_depth && json_weight(text) > max_json_weight)
    return json_problem{false, "JSON of more than 4,194,304 numbers, or 524,288 texts, arrays and objects"};
  using event = typename Json::parse_event_t;
  bool is_too_deep = false;
  const auto limit = [&](int depth, event what, Json&) {
    const bool opens = what == event::object_start || what == event::array_start;
    const bool leave_out = opens && static_cast<std::size_t>(depth) >= max_depth;
    is_too_deep = is_too_deep || leave_out;
    return !leave_out;
  };
  std::string problem;
  try {
    found = Json::parse(text, limit);
    if (!is_too_deep) return std::nullopt;
  } catch (const typename Json::exception& error) {
    problem = error.what();
  }
  if (is_too_deep) problem = "JSON deeper than " + std::to_string(max_depth) + " levels";
  return json_problem{is_too_deep, std::move(problem)};
}

template <class Json>
[[nodiscard]] std::string written(const Json& value, bool ascii) {
  return value.dump(-1, ' ', ascii, Json::error_handler_t::replace);
}

}  // namespace

std::size_t json_weight(std::string_view text, std::size_t most) noexcept {
  constexpr std::size_t allocated = 8;
  std::size_t weight = 0;
  for (std::size_t at = 0; at < text.size() && weight <= most; ++at) {
    switch (text[at]) {
      case ',': ++weight; break;
      case '"':
        while (++at < text.size() && text[at] != '"')
          if (text[at] == '\\') ++at;
        [[fallthrough]];
      case '[':
      case '{': weight += allocated; break;
      default: break;
    }
  }
  return weight;
}

std::optional<json_problem> read_json(std::string_view text, nlohmann::json& found, std::size_t max_depth) {
  return read(text, found, max_depth);
}

std::optional<json_problem> read_json(std::string_view text, nlohmann::ordered_json& found, std::size_t max_depth) {
  return read(text, found, max_depth);
}

std::string write_json(const nlohmann::json& value) { return written(value, false); }

std::string write_json(const nlohmann::ordered_json& value) { return written(value, false); }

std::string write_ascii_json(const nlohmann::json& value) { return written(value, true); }

std::string write_ascii_json(const nlohmann::ordered_json& value) { return written(value, true); }

std::optional<std::string> write_utf8_json(const nlohmann::json& value) try {
  return value.dump();
} catch (const nlohmann::json::exception&) {
  return std::nullopt;
}

}  // namespace orc::detail
