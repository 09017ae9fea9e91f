#include "service_json.h"

#include <cstdio>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace orc::detail {

namespace {

using nlohmann::json;

constexpr const char* member = "x-orc-service";

constexpr int max_depth = 64;

// Copies of deeper values would overflow the stack. Throws what nlohmann throws, and std::invalid_argument: too deep.
[[nodiscard]] json parse(std::string_view text) {
  bool deep = false;
  json read = json::parse(text, [&deep](int depth, json::parse_event_t, json&) {
    deep = deep || depth > max_depth;
    return !deep;
  });
  if (deep) throw std::invalid_argument("JSON deeper than 64 levels");
  return read;
}

[[nodiscard]] std::string base64(std::string_view bytes) {
  constexpr char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    const auto byte = [&](std::size_t n) {
      return at + n < bytes.size() ? static_cast<std::uint32_t>(static_cast<unsigned char>(bytes[at + n])) : 0U;
    };
    const std::uint32_t group = byte(0) << 16 | byte(1) << 8 | byte(2);
    for (std::size_t n = 0; n < 4; ++n)
      text.push_back(at + n > bytes.size() ? '=' : digits[group >> (18 - 6 * n) & 63]);
  }
  return text;
}

// Nothing: it is not base64.
[[nodiscard]] std::optional<std::string> from_base64(std::string_view text) {
  std::string bytes;
  std::uint32_t group = 0;
  std::size_t digits = 0;
  while (text.ends_with('=')) text.remove_suffix(1);
  for (const char each : text) {
    const auto value = each >= 'A' && each <= 'Z'   ? each - 'A'
                       : each >= 'a' && each <= 'z' ? each - 'a' + 26
                       : each >= '0' && each <= '9' ? each - '0' + 52
                       : each == '+'                ? 62
                       : each == '/'                ? 63
                                                    : -1;
    if (value < 0) return std::nullopt;
    group = group << 6 | static_cast<std::uint32_t>(value);
    if (++digits % 4 != 1) bytes.push_back(static_cast<char>(group >> (6 - 2 * ((digits - 1) % 4)) & 255));
  }
  return bytes;
}

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
  const auto text = [&](bool with_schemas) {
    return json{{"title", service_type_name},
                {"type", "object"},
                {"properties", properties},
                {member,
                 {{"request", describe(types.request, with_schemas)},
                  {"reply", describe(types.reply, with_schemas)},
                  {"interfaces", interfaces}}}}
        .dump(-1, ' ', true, json::error_handler_t::replace);
  };
  std::string schema = text(true);
  if (schema.size() > max_schema_bytes) schema = text(false);
  return {.name = std::string(service_type_name),
          .schema_encoding = "jsonschema",
          .message_encoding = "json",
          .schema = std::move(schema)};
}

bool read_service_type(const type_description& type, service_description& found) try {
  const json service = parse(type.schema).at(member);
  found.request = read_type(service.at("request"));
  found.reply = read_type(service.at("reply"));
  found.interfaces = service.at("interfaces").get<std::vector<std::string>>();
  return true;
} catch (const std::exception&) {
  return false;
}

bool read_schemas(const type_description& type, type_description& request, type_description& reply) try {
  const json service = parse(type.schema).at(member);
  return read_schema(service.at("request"), request) && read_schema(service.at("reply"), reply);
} catch (const std::exception&) {
  return false;
}

std::string to_json(const service_figures& figures) {
  return nlohmann::ordered_json{{"clients", figures.clients}, {"waiting", figures.waiting},
                                {"calls", figures.calls},     {"failed", figures.failed},
                                {"refused", figures.refused}, {"dropped", figures.dropped}}
      .dump();
}

}  // namespace orc::detail
