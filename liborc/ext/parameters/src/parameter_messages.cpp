#include "parameter_messages.h"

#include "parameter_json.h"

namespace orc::detail {

namespace {

[[nodiscard]] type_description json_type(const char* name, json properties, json required) {
  return {.name = name,
          .schema_encoding = "jsonschema",
          .message_encoding = "json",
          .schema = json{
              {"title", name},
              {"type", "object"},
              {"properties", std::move(properties)},
              {"required", std::move(required)},
              {"additionalProperties",
               false}}.dump()};
}

}  // namespace

const type_description& parameter_request_type() {
  static const type_description type = json_type(
      "orc.ParameterRequest", {{"name", {{"type", "string"}}}, {"value", json::object()}}, json::array({"name"}));
  return type;
}

const type_description& parameter_reply_type() {
  static const type_description type =
      json_type("orc.ParameterReply", {{"value", json::object()}}, json::array({"value"}));
  return type;
}

}  // namespace orc::detail
