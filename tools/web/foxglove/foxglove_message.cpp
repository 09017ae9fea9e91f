#include "tools/web/foxglove/foxglove_message.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "json/base64.h"
#include "json/json_io.h"

namespace orc::web {

namespace {

using nlohmann::json;

constexpr std::size_t max_op_echo = 64;  // bytes of an "op"
constexpr std::size_t max_topic_bytes = 4096;
constexpr std::size_t max_request_id_bytes = 256;
constexpr std::size_t max_encoding_bytes = 64;

constexpr std::array<std::pair<std::string_view, foxglove_op>, 10> foxglove_ops{{
    {"subscribe", foxglove_op::subscribe},
    {"unsubscribe", foxglove_op::unsubscribe},
    {"advertise", foxglove_op::advertise},
    {"unadvertise", foxglove_op::unadvertise},
    {"subscribeConnectionGraph", foxglove_op::subscribe_graph},
    {"unsubscribeConnectionGraph", foxglove_op::unsubscribe_graph},
    {"getParameters", foxglove_op::get_parameters},
    {"setParameters", foxglove_op::set_parameters},
    {"subscribeParameterUpdates", foxglove_op::subscribe_parameters},
    {"unsubscribeParameterUpdates", foxglove_op::unsubscribe_parameters},
}};

// The encoding of schemas that belongs to one of messages.
struct encoding_pair {
  std::string_view message;
  std::string_view schema;
};
constexpr std::array<encoding_pair, 4> client_encodings{
    {{"json", "jsonschema"}, {"flatbuffer", "flatbuffer"}, {"protobuf", "protobuf"}, {"cdr", "ros2msg"}}};

// Reads members of an object, and keeps the first problem.
class members {
 public:
  explicit members(std::string& problem) : problem_(problem) {}

  [[nodiscard]] bool good() const { return problem_.empty(); }
  void fail(std::string why) {
    if (good()) problem_ = std::move(why);
  }

  [[nodiscard]] std::uint32_t number(const json& from, const char* name) {
    const auto at = from.is_object() ? from.find(name) : from.end();
    if (from.is_object() && at != from.end()) return number_of(*at, name);
    fail("\"" + std::string(name) + "\" is missing");
    return 0;
  }
  [[nodiscard]] std::uint32_t number_of(const json& value, const char* name) {
    if (value.is_number_unsigned()) {
      const auto number = value.get<std::uint64_t>();
      if (number <= std::numeric_limits<std::uint32_t>::max()) return static_cast<std::uint32_t>(number);
    }
    fail("\"" + std::string(name) + "\" is a whole number from 0 to 4294967295");
    return 0;
  }
  // Nothing: there is none, or it is null.
  [[nodiscard]] std::optional<std::string> text(const json& from, const char* name, std::size_t limit) {
    if (!from.is_object()) return std::nullopt;
    const auto at = from.find(name);
    if (at == from.end() || at->is_null()) return std::nullopt;
    if (at->is_string() && at->get_ref<const std::string&>().size() <= limit) return at->get<std::string>();
    fail("\"" + std::string(name) + "\" is a text of at most " + std::to_string(limit) + " bytes");
    return std::nullopt;
  }
  [[nodiscard]] std::string required_text(const json& from, const char* name, std::size_t limit) {
    auto found = text(from, name, limit);
    if (!found) fail("\"" + std::string(name) + "\" is missing");
    return std::move(found).value_or("");
  }
  // Null: there is none, and that is a problem.
  [[nodiscard]] const json* list(const json& from, const char* name, std::size_t limit) {
    const auto at = from.find(name);
    if (at != from.end() && at->is_array() && at->size() <= limit) return &*at;
    fail("\"" + std::string(name) + "\" is a list of at most " + std::to_string(limit));
    return nullptr;
  }

 private:
  std::string& problem_;
};

void read_ids(members& read, const json& from, const char* name, foxglove_message& found) {
  const json* const all = read.list(from, name, max_foxglove_subscriptions);
  if (all == nullptr) return;
  for (const json& each : *all) found.ids.push_back(read.number_of(each, name));
}

void read_subscriptions(members& read, const json& from, foxglove_message& found) {
  const json* const all = read.list(from, "subscriptions", max_foxglove_subscriptions);
  if (all == nullptr) return;
  for (const json& each : *all) {
    const std::uint32_t id = read.number(each, "id");
    found.subscriptions.push_back({id, read.number(each, "channelId")});
  }
}

// The viewers leave out the encoding of the schema when that of the messages determines it.
void read_type(members& read, const json& from, type_description& type) {
  type.name = read.text(from, "schemaName", max_topic_bytes).value_or("");
  type.message_encoding = read.required_text(from, "encoding", max_topic_bytes);
  std::string usual;
  for (const encoding_pair& each : client_encodings)
    if (each.message == type.message_encoding) usual = each.schema;
  if (usual.empty()) return read.fail("\"encoding\" is json, flatbuffer, protobuf or cdr");
  auto schema = read.text(from, "schema", max_foxglove_message_bytes);
  if (!schema || schema->empty()) return;
  type.schema_encoding = read.text(from, "schemaEncoding", max_topic_bytes).value_or("");
  if (type.schema_encoding.empty()) type.schema_encoding = std::move(usual);
  if (is_binary_schema(type.schema_encoding)) schema = detail::from_base64(*schema);
  if (!schema) return read.fail("the \"schema\" of encoding " + type.message_encoding + " is no base64");
  type.schema = std::move(*schema);
}

void read_channels(members& read, const json& from, foxglove_message& found) {
  const json* const all = read.list(from, "channels", max_foxglove_client_channels);
  if (all == nullptr) return;
  for (const json& each : *all) {
    foxglove_client_channel channel;
    channel.id = read.number(each, "id");
    channel.topic = read.required_text(each, "topic", max_topic_bytes);
    read_type(read, each, channel.type);
    found.channels.push_back(std::move(channel));
  }
}

void read_parameter_names(members& read, const json& from, foxglove_message& found) {
  const json* const all = read.list(from, "parameterNames", max_foxglove_parameters);
  if (all == nullptr) return;
  for (const json& each : *all) {
    if (!each.is_string() || each.get_ref<const std::string&>().size() > max_topic_bytes)
      return read.fail("\"parameterNames\" are texts of at most " + std::to_string(max_topic_bytes) + " bytes");
    found.names.push_back(each.get<std::string>());
  }
}

void read_parameter_sets(members& read, const json& from, foxglove_message& found) {
  const json* const all = read.list(from, "parameters", max_foxglove_sets);
  if (all == nullptr) return;
  for (const json& each : *all) {
    foxglove_parameter_set set{.name = read.required_text(each, "name", max_topic_bytes)};
    if (!read.good()) return;
    const auto value = each.find("value");
    if (value == each.end() || value->is_null())
      return read.fail("parameter '" + set.name + "' belongs to its program: it cannot be removed");
    if (read.text(each, "type", max_topic_bytes) == "byte_array")
      return read.fail("no parameter has the type byte_array");
    set.value = detail::write_json(*value);
    found.sets.push_back(std::move(set));
  }
}

// Takes little-endian numbers from the front.
class cursor {
 public:
  explicit cursor(std::string_view bytes) : bytes_(bytes) {}

  template <class Number>
  [[nodiscard]] bool take(Number& to) {
    static_assert(std::endian::native == std::endian::little, "the protocol's numbers are little-endian");
    if (bytes_.size() < sizeof to) return false;
    std::memcpy(&to, bytes_.data(), sizeof to);
    bytes_.remove_prefix(sizeof to);
    return true;
  }
  [[nodiscard]] std::string_view rest() const noexcept { return bytes_; }

 private:
  std::string_view bytes_;
};

[[nodiscard]] foxglove_outcome read_playback(cursor from, foxglove_message& found, std::string& problem) {
  std::uint8_t command = 0;
  float rate = 0;
  std::uint8_t seeks = 0;
  std::uint64_t seek_ns = 0;
  std::uint32_t id_size = 0;
  if (!from.take(command) || !from.take(rate) || !from.take(seeks) || !from.take(seek_ns) || !from.take(id_size) ||
      from.rest().size() < id_size) {
    problem = "a playback request is cut off";
    return foxglove_outcome::broken;
  }
  found.op = foxglove_op::playback;
  if (command > 1)
    problem = "there is no such playback command";
  else if (!std::isfinite(rate) || rate < 0.01F || rate > 100)
    problem = "the playback speed is from 0.01 to 100";
  else if (id_size > max_request_id_bytes)
    problem = "the request id has at most 256 bytes";
  else if (seeks != 0 && seek_ns > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
    problem = "the seek time is out of range";
  if (!problem.empty()) return foxglove_outcome::refused;
  found.playback.play = command == 0;
  found.playback.rate = rate;
  if (seeks != 0) found.playback.seek_ns = static_cast<std::int64_t>(seek_ns);
  found.playback.id = from.rest().substr(0, id_size);
  return foxglove_outcome::ok;
}

[[nodiscard]] foxglove_outcome read_call(cursor from, foxglove_message& found, std::string& problem) {
  std::uint32_t encoding_size = 0;
  if (!from.take(found.call.service) || !from.take(found.call.id) || !from.take(encoding_size) ||
      from.rest().size() < encoding_size) {
    problem = "a service call is cut off";
    return foxglove_outcome::broken;
  }
  if (encoding_size > max_encoding_bytes) {
    problem = "the encoding of a service call has at most " + std::to_string(max_encoding_bytes) + " bytes";
    return foxglove_outcome::refused;
  }
  found.op = foxglove_op::call_service;
  found.call.encoding = from.rest().substr(0, encoding_size);
  found.data = std::as_bytes(std::span(from.rest().substr(encoding_size)));
  return foxglove_outcome::ok;
}

}  // namespace

bool is_binary_schema(std::string_view schema_encoding) noexcept {
  return schema_encoding == "flatbuffer" || schema_encoding == "protobuf";
}

foxglove_outcome read_foxglove_text(std::string_view text, foxglove_message& found, std::string& problem) {
  found = {};
  problem.clear();
  json object;
  if (text.size() > max_foxglove_message_bytes || detail::read_json(text, object) || !object.is_object()) {
    problem = "not a JSON object";
    return foxglove_outcome::broken;
  }
  members read(problem);
  const std::string name = read.required_text(object, "op", max_foxglove_message_bytes);
  if (!read.good()) return foxglove_outcome::refused;
  found.op_name = name.substr(0, max_op_echo);
  for (const auto& [each, op] : foxglove_ops)
    if (each == name) found.op = op;
  switch (found.op) {
    case foxglove_op::subscribe: read_subscriptions(read, object, found); break;
    case foxglove_op::unsubscribe: read_ids(read, object, "subscriptionIds", found); break;
    case foxglove_op::advertise: read_channels(read, object, found); break;
    case foxglove_op::unadvertise: read_ids(read, object, "channelIds", found); break;
    case foxglove_op::get_parameters:
      found.request = read.text(object, "id", max_request_id_bytes);
      read_parameter_names(read, object, found);
      break;
    case foxglove_op::set_parameters:
      found.request = read.text(object, "id", max_request_id_bytes);
      read_parameter_sets(read, object, found);
      break;
    case foxglove_op::subscribe_parameters:
    case foxglove_op::unsubscribe_parameters: read_parameter_names(read, object, found); break;
    case foxglove_op::none: read.fail("this server does not know \"" + found.op_name + "\""); break;
    default: break;
  }
  return read.good() ? foxglove_outcome::ok : foxglove_outcome::refused;
}

foxglove_outcome read_foxglove_binary(std::string_view bytes, foxglove_message& found, std::string& problem) {
  found = {};
  problem.clear();
  cursor from(bytes);
  std::uint8_t op = 0;
  if (!from.take(op)) {
    problem = "a binary message is empty";
    return foxglove_outcome::broken;
  }
  found.op_name = "binary message " + std::to_string(op);
  if (op == 2) return read_call(from, found, problem);
  if (op == 3) return read_playback(from, found, problem);
  if (op != 1) {
    problem = "this server does not know " + found.op_name;
    return foxglove_outcome::refused;
  }
  if (!from.take(found.channel)) {
    problem = "a binary message is cut off";
    return foxglove_outcome::broken;
  }
  found.op = foxglove_op::message;
  found.data = std::as_bytes(std::span(from.rest()));
  return foxglove_outcome::ok;
}

}  // namespace orc::web
