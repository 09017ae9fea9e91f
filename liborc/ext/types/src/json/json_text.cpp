#include "json/json_text.h"

#include <string>

#include "json/json_io.h"
#include "orc/types/decoder.h"
#include "trail.h"

namespace orc::types::detail {

result parse_json(std::string_view text, nlohmann::json& parsed) {
  const auto problem = orc::detail::read_json(text, parsed, max_depth);
  if (!problem) return {};
  if (problem->is_too_deep) return {errc::bad_argument, "the JSON is nested deeper than 64"};
  std::string_view what = problem->text;
  if (what.starts_with("[json.exception.parse_error.")) what.remove_prefix(what.find("] ") + 2);
  return {errc::bad_argument, "not JSON: " + shown(what)};
}

}  // namespace orc::types::detail
