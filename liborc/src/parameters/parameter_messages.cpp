#include "parameters/parameter_messages.h"

namespace orc::detail {

namespace {

[[nodiscard]] type_description json_type(const char* name, const char* schema) {
  return {.name = name, .schema_encoding = "jsonschema", .message_encoding = "json", .schema = schema};
}

}  // namespace

const type_description& parameter_request_type() {
  static const type_description type = json_type(
      "orc.ParameterRequest", R"({"additionalProperties":false,"properties":{"name":{"type":"string"},"value":{}},)"
                              R"("required":["name"],"title":"orc.ParameterRequest","type":"object"})");
  return type;
}

const type_description& parameter_reply_type() {
  static const type_description type =
      json_type("orc.ParameterReply", R"({"additionalProperties":false,"properties":{"value":{}},)"
                                      R"("required":["value"],"title":"orc.ParameterReply","type":"object"})");
  return type;
}

}  // namespace orc::detail
