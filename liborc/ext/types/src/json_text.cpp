#include "json_text.h"

#include <nlohmann/json.hpp>
#include <string>

#include "orc/types/decoder.h"
#include "trail.h"

namespace orc::types::detail {

result parse_json(std::string_view text, nlohmann::json& parsed) {
  using nlohmann::json;
  bool too_deep = false;
  const auto limit = [&too_deep](int depth, json::parse_event_t event, json&) {
    const bool opens = event == json::parse_event_t::object_start || event == json::parse_event_t::array_start;
    if (opens && depth >= static_cast<int>(max_depth)) too_deep = true;
    return !too_deep;
  };
  result deep{errc::bad_argument, "the JSON is nested deeper than 64"};
  try {
    parsed = json::parse(text.begin(), text.end(), limit);
  } catch (const json::parse_error& error) {
    if (too_deep) return deep;
    const std::string_view what = error.what();
    const std::size_t start = what.find("] ");  // behind "[json.exception.parse_error.101] "
    return {errc::bad_argument, "not JSON: " + shown(start == what.npos ? what : what.substr(start + 2))};
  } catch (const json::exception& error) {  // a number beyond the range of double
    return {errc::bad_argument, "not JSON: " + shown(error.what())};
  }
  if (too_deep) return deep;
  return {};
}

}  // namespace orc::types::detail
