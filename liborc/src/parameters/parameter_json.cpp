#include "parameters/parameter_json.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <exception>
#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>
#include <variant>
#include <vector>

#include "json/json_io.h"

namespace orc {

namespace detail {

namespace {

using nlohmann::json;

constexpr std::size_t max_message = 2 * max_parameter_bytes;  // a request or a reply
constexpr const char* marker = "x-orc-parameter";
constexpr double whole_limit = 9007199254740992.0;  // 2^53: above it a double stands for several whole numbers

[[nodiscard]] const char* type_name(const parameter_value& value) {
  constexpr const char* names[] = {"boolean", "integer", "number", "string", "array"};
  return names[value.index()];
}

[[nodiscard]] std::optional<parameter_value> number_list(const json& from) {
  std::vector<double> numbers;
  numbers.reserve(std::min(from.size(), max_parameter_length));
  for (const json& each : from) {
    if (!each.is_number() || numbers.size() == max_parameter_length) return std::nullopt;
    numbers.push_back(each.get<double>());
  }
  return numbers;
}

[[nodiscard]] json json_of(const parameter_value& value) {
  return std::visit([](const auto& each) { return json(each); }, value);
}

[[nodiscard]] std::optional<parameter_value> value_of(const json& from) {
  switch (from.type()) {
    case json::value_t::boolean: return from.get<bool>();
    case json::value_t::number_integer: return from.get<std::int64_t>();
    case json::value_t::number_unsigned: {
      const auto number = from.get<std::uint64_t>();
      if (number <= std::uint64_t{std::numeric_limits<std::int64_t>::max()}) return static_cast<std::int64_t>(number);
      return static_cast<double>(number);
    }
    case json::value_t::number_float: return from.get<double>();
    case json::value_t::string: return from.get<std::string>();
    case json::value_t::array: return number_list(from);
    default: return std::nullopt;
  }
}

// Nothing: the text is too long, or is no JSON of at most max_json_depth, or memory is exhausted.
[[nodiscard]] std::optional<json> parse(std::string_view text, std::size_t max_bytes) noexcept try {
  json read;
  if (text.size() > max_bytes || read_json(text, read)) return std::nullopt;
  return read;
} catch (const std::exception&) {
  return std::nullopt;
}

[[nodiscard]] parameter_value initial_of(const std::string& type) {
  if (type == "boolean") return false;
  if (type == "integer") return std::int64_t{0};
  if (type == "number") return 0.0;
  if (type == "string") return std::string();
  if (type == "array") return std::vector<double>();
  throw std::invalid_argument("no type of a parameter");
}

// Throws when there is a value of another type.
[[nodiscard]] parameter_value typed_value(const json& from, const parameter_value& like) {
  auto read = value_of(from);
  if (!read) throw std::invalid_argument("a value of another type");
  parameter_value value = converted(*std::move(read), like);
  if (value.index() != like.index()) throw std::invalid_argument("a value of another type");
  return value;
}

// A number of this parameter, or of its list.
[[nodiscard]] std::optional<parameter_value> limit(const json& from, const char* keyword, const parameter_value& like) {
  const auto found = from.find(keyword);
  if (found == from.end()) return std::nullopt;
  return typed_value(*found, std::holds_alternative<std::vector<double>>(like) ? parameter_value(0.0) : like);
}

void read_value_schema(const json& from, parameter_description& found) {
  found.initial = initial_of(from.at("type").get<std::string>());
  found.initial = typed_value(from.at("default"), found.initial);
  const bool is_list = std::holds_alternative<std::vector<double>>(found.initial);
  const json& numbers = is_list && from.contains("items") ? from["items"] : from;
  if (!numbers.is_object()) throw std::invalid_argument("no schema");
  found.min = limit(numbers, "minimum", found.initial);
  found.max = limit(numbers, "maximum", found.initial);
  if (is_list || std::holds_alternative<std::string>(found.initial)) {
    found.min_length = is_list ? from.value("minItems", std::size_t{0}) : 0;
    found.max_length =
        std::min(from.value(is_list ? "maxItems" : "maxLength", max_parameter_length), max_parameter_length);
  }
  if (const auto choices = from.find("enum"); choices != from.end()) {
    for (const json& each : choices->get_ref<const json::array_t&>())
      found.choices.push_back(typed_value(each, found.initial));
  }
  found.description = from.value("description", std::string());
  found.read_only = from.value("readOnly", false);
}

}  // namespace

parameter_value converted(parameter_value value, const parameter_value& to_type_of) {
  if (const auto* const whole = std::get_if<std::int64_t>(&value)) {
    if (std::holds_alternative<double>(to_type_of)) return static_cast<double>(*whole);
  } else if (const auto* const number = std::get_if<double>(&value)) {
    if (std::holds_alternative<std::int64_t>(to_type_of) && std::trunc(*number) == *number &&
        std::abs(*number) <= whole_limit)
      return static_cast<std::int64_t>(*number);
  }
  return value;
}

bool is_utf8(const std::string& text) { return write_utf8_json(json(text)).has_value(); }

std::string sample_of(const parameter_value& value) { return write_json(json{{"value", json_of(value)}}); }

std::optional<parameter_value> value_in(std::string_view sample) {
  const auto read = parse(sample, max_message);
  if (!read || !read->is_object()) return std::nullopt;
  const auto value = read->find("value");
  return value != read->end() ? value_of(*value) : std::nullopt;
}

result type_of(const parameter_description& from, type_description& type) {
  json value{{"type", type_name(from.initial)}, {"default", json_of(from.initial)}};
  const bool is_list = std::holds_alternative<std::vector<double>>(from.initial);
  json numbers = is_list ? json{{"type", "number"}} : json::object();
  if (from.min) numbers["minimum"] = json_of(*from.min);
  if (from.max) numbers["maximum"] = json_of(*from.max);
  if (is_list) {
    value["items"] = std::move(numbers);
    value["minItems"] = from.min_length;
    value["maxItems"] = from.max_length;
  } else {
    value.update(numbers);
  }
  if (std::holds_alternative<std::string>(from.initial)) value["maxLength"] = from.max_length;
  for (const parameter_value& each : from.choices) value["enum"].push_back(json_of(each));
  if (!from.description.empty()) value["description"] = from.description;
  if (from.read_only) value["readOnly"] = true;
  json mark = json::object();
  if (!from.unit.empty()) mark["unit"] = from.unit;
  const json schema{{"title", parameter_type_name},
                    {"type", "object"},
                    {"properties", {{"value", std::move(value)}}},
                    {"required", {"value"}},
                    {"additionalProperties", false},
                    {marker, std::move(mark)}};
  auto text = write_utf8_json(schema);
  if (!text) return {errc::bad_argument, "a text of parameter " + from.name + " is no UTF-8"};
  type = {.name = std::string(parameter_type_name),
          .schema_encoding = "jsonschema",
          .message_encoding = "json",
          .schema = *std::move(text)};
  if (type.schema.size() <= max_parameter_schema) return {};
  return {errc::bad_argument, "the description of " + from.name + " has " + std::to_string(type.schema.size()) +
                                  " bytes; " + std::to_string(max_parameter_schema) + " are allowed: fewer choices"};
}

bool read_type(const type_description& type, parameter_description& found) try {
  if (type.name != parameter_type_name) return false;
  const auto schema = parse(type.schema, max_parameter_schema);
  if (!schema) return false;
  parameter_description read{.name = found.name, .owner = found.owner};
  const json& mark = schema->at(marker);
  read.unit = mark.value("unit", std::string());
  read_value_schema(schema->at("properties").at("value"), read);
  found = std::move(read);
  return true;
} catch (const std::exception&) {
  return false;
}

std::string request_of(const std::string& name, const std::optional<parameter_value>& value) {
  json request{{"name", name}};
  if (value) request["value"] = json_of(*value);
  return write_json(request);
}

std::optional<parameter_wish> wish_in(std::string_view request) {
  const auto read = parse(request, max_message);
  if (!read || !read->is_object()) return std::nullopt;
  const auto name = read->find("name");
  const auto value = read->find("value");
  const bool sets = value != read->end();
  if (name == read->end() || !name->is_string() || read->size() != (sets ? 2U : 1U)) return std::nullopt;
  return parameter_wish{name->get<std::string>(), sets, sets ? value_of(*value) : std::nullopt};
}

}  // namespace detail

std::string to_json(const parameter_value& value) { return detail::write_json(detail::json_of(value)); }

result from_json(std::string_view text, parameter_value& value) {
  const auto read = detail::parse(text, max_parameter_bytes);
  auto found = read ? detail::value_of(*read) : std::nullopt;
  if (!found) {
    return {errc::bad_argument, "this is no value of a parameter: true, 3, 2.5, \"text\" and [1.0, 2.5] are (as JSON)"};
  }
  value = *std::move(found);
  return {};
}

}  // namespace orc
