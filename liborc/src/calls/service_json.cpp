#include "calls/service_json.h"

#include <cstdio>
#include <nlohmann/json.hpp>

#include "json/base64.h"
#include "json/json_io.h"
#include "orc/calls/call_record.h"

namespace orc::detail {

namespace {

using nlohmann::json;

constexpr const char* member = "x-orc-service";

[[nodiscard]] json describe(const type_description& type, bool with_schema) {
  if (type.empty()) return nullptr;
  char hash[17] = {};
  std::snprintf(hash, sizeof hash, "%016llx", static_cast<unsigned long long>(hash_of(type)));
  json out{{"name", type.name},
           {"schemaEncoding", type.schema_encoding},
           {"messageEncoding", type.message_encoding},
           {"hash", hash},
           {"schemaSize", type.schema.size()}};
  if (with_schema) out["schema"] = base64(type.schema);
  return out;
}

// `about`: what the schema says of the service, with the schemas of its types or without them.
template <class About>
[[nodiscard]] type_description described(std::string_view title, const json& properties, const About& about) {
  const auto text = [&](bool with_schemas) {
    json whole = about(with_schemas);
    whole.update({{"title", title}, {"type", "object"}, {"properties", properties}});
    return write_ascii_json(whole);
  };
  std::string schema = text(true);
  if (schema.size() > max_schema_bytes) schema = text(false);
  return {.name = std::string(title),
          .schema_encoding = "jsonschema",
          .message_encoding = "json",
          .schema = std::move(schema)};
}

[[nodiscard]] topic_type read_type(const json& from) {
  if (from.is_null()) return {};
  topic_type type;
  type.name = from.at("name").get<std::string>();
  type.schema_encoding = from.at("schemaEncoding").get<std::string>();
  type.message_encoding = from.at("messageEncoding").get<std::string>();
  type.hash = std::stoull(from.at("hash").get<std::string>(), nullptr, 16);
  type.schema_size = from.at("schemaSize").get<std::size_t>();
  return type;
}

[[nodiscard]] bool read_schema(const json& from, type_description& type) {
  if (from.is_null()) {
    type = {};
    return true;
  }
  const topic_type known = read_type(from);
  type = {known.name, known.schema_encoding, known.message_encoding, {}};
  if (const auto found = from.find("schema"); found != from.end()) {
    auto schema = from_base64(found->get_ref<const std::string&>());
    if (!schema) return false;
    type.schema = *std::move(schema);
  }
  return type.schema.size() == known.schema_size && hash_of(type) == known.hash;
}

}  // namespace

type_description service_type(const call_types& types, const std::vector<std::string>& interfaces) {
  json properties = json::object();
  for (const char* const name : {"clients", "waiting", "calls", "failed", "refused", "dropped"})
    properties[name] = {{"type", "integer"}};
  return described(service_type_name, properties, [&](bool with_schemas) {
    return json{{member,
                 {{"request", describe(types.request, with_schemas)},
                  {"reply", describe(types.reply, with_schemas)},
                  {"interfaces", interfaces}}}};
  });
}

type_description call_record_type(const call_types& types) {
  const json integer{{"type", "integer"}};
  const json text{{"type", "string"}};
  const json payload{{"type", json::array({"object", "null"})},
                     {"properties", {{"size", integer}, {"text", text}, {"base64", text}}}};
  const json client{{"type", "object"}, {"properties", {{"name", text}, {"host", text}, {"pid", integer}}}};
  json properties{{"client", client}, {"request", payload}, {"reply", payload}, {"cancelled", {{"type", "boolean"}}}};
  for (const char* const name : {"connection", "outcome", "text", "exception"}) properties[name] = text;
  for (const char* const name : {"id", "received_ns", "started_ns", "finished_ns", "deadline_ns", "code", "number"})
    properties[name] = integer;
  return described(call_record_type_name, properties, [&](bool with_schemas) {
    return json{{"x-orc-call",
                 {{"request", describe(types.request, with_schemas)}, {"reply", describe(types.reply, with_schemas)}}}};
  });
}

bool read_service_type(const type_description& type, service_description& found) try {
  json schema;
  if (read_json(type.schema, schema)) return false;
  const json& service = schema.at(member);
  found.request = read_type(service.at("request"));
  found.reply = read_type(service.at("reply"));
  found.interfaces = service.at("interfaces").get<std::vector<std::string>>();
  return true;
} catch (const std::exception&) {
  return false;
}

bool read_schemas(const type_description& type, type_description& request, type_description& reply) try {
  json schema;
  if (read_json(type.schema, schema)) return false;
  const json& service = schema.at(member);
  return read_schema(service.at("request"), request) && read_schema(service.at("reply"), reply);
} catch (const std::exception&) {
  return false;
}

std::string to_json(const service_figures& figures) {
  return write_json(nlohmann::ordered_json{{"clients", figures.clients},
                                           {"waiting", figures.waiting},
                                           {"calls", figures.calls},
                                           {"failed", figures.failed},
                                           {"refused", figures.refused},
                                           {"dropped", figures.dropped}});
}

}  // namespace orc::detail
