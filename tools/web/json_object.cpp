#include "tools/web/json_object.h"

namespace orc::web {

namespace {

constexpr int max_depth = 64;

}  // namespace

bool read_json_object(std::string_view text, nlohmann::json& found) {
  bool deep = false;
  const nlohmann::json::parser_callback_t shallow = [&deep](int depth, nlohmann::json::parse_event_t, nlohmann::json&) {
    deep = deep || depth > max_depth;
    return !deep;
  };
  found = nlohmann::json::parse(text, shallow, false);
  return !deep && found.is_object();
}

}  // namespace orc::web
