#include "bounded_json.h"

#include <stdexcept>

namespace orc::detail {

namespace {
constexpr int max_depth = 64;
}

nlohmann::json parse_bounded(std::string_view text) {
  bool deep = false;
  nlohmann::json read = nlohmann::json::parse(text, [&deep](int depth, nlohmann::json::parse_event_t, nlohmann::json&) {
    deep = deep || depth > max_depth;
    return !deep;
  });
  if (deep) throw std::invalid_argument("JSON deeper than 64 levels");
  return read;
}

}  // namespace orc::detail
