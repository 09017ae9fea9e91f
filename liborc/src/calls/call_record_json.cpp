#include "calls/call_record_json.h"

#include <concepts>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>

#include "json/base64.h"
#include "json/json_io.h"

namespace orc {

namespace {

using nlohmann::json;
using nlohmann::ordered_json;

constexpr std::string_view record_suffix = "/.calls";

[[nodiscard]] ordered_json json_of_payload(const call_payload& payload) {
  ordered_json out{{"size", payload.size}, {"cut", payload.is_cut}};
  if (payload.is_json)
    out["text"] = payload.bytes;
  else
    out["base64"] = detail::base64(payload.bytes);
  return out;
}

// nlohmann converts fractions and numbers that are out of range without a word.
template <std::integral Number>
[[nodiscard]] Number number_of(const json& from) {
  if (from.is_number_unsigned()) {
    if (const auto value = from.get<std::uint64_t>(); std::in_range<Number>(value)) return static_cast<Number>(value);
  } else if (from.is_number_integer()) {
    if (const auto value = from.get<std::int64_t>(); std::in_range<Number>(value)) return static_cast<Number>(value);
  }
  throw std::invalid_argument("a value is no number, or is out of range");
}

// Throws what nlohmann throws, and std::invalid_argument.
[[nodiscard]] call_payload read_payload(const json& from) {
  call_payload payload;
  payload.size = number_of<std::size_t>(from.at("size"));
  payload.is_cut = from.at("cut").get<bool>();
  if (const auto text = from.find("text"); text != from.end()) {
    payload.bytes = text->get<std::string>();
    payload.is_json = true;
    return payload;
  }
  auto bytes = detail::from_base64(from.at("base64").get_ref<const std::string&>());
  if (!bytes) throw std::invalid_argument("a payload is no base64");
  payload.bytes = *std::move(bytes);
  return payload;
}

[[nodiscard]] std::uint64_t read_connection(const std::string& hex) {
  constexpr std::size_t digits = 16;
  if (hex.size() != digits || hex.find_first_not_of("0123456789abcdef") != std::string::npos)
    throw std::invalid_argument("a connection has 16 hexadecimal digits");
  return std::stoull(hex, nullptr, 16);
}

// Codes of a later version are failures.
[[nodiscard]] call_errc code_of(std::uint64_t number) noexcept {
  const auto code = static_cast<call_errc>(number);
  return number <= UINT8_MAX && to_string(code) != "unknown" ? code : call_errc::failed;
}

// Null: 0.
[[nodiscard]] std::int64_t read_ns(const json& from) { return from.is_null() ? 0 : number_of<std::int64_t>(from); }

[[nodiscard]] call_record read_record(const json& from) {
  call_record record;
  const json& client = from.at("client");
  record.client = {.name = client.at("name").get<std::string>(),
                   .host = client.at("host").get<std::string>(),
                   .pid = number_of<std::uint32_t>(client.at("pid"))};
  record.connection = read_connection(from.at("connection").get_ref<const std::string&>());
  record.id = number_of<std::uint64_t>(from.at("id"));
  record.received_ns = read_ns(from.at("received_ns"));
  record.started_ns = read_ns(from.at("started_ns"));
  record.finished_ns = read_ns(from.at("finished_ns"));
  record.deadline_ns = read_ns(from.at("deadline_ns"));
  record.error = {.code = code_of(number_of<std::uint64_t>(from.at("code"))),
                  .number = number_of<std::int32_t>(from.at("number")),
                  .text = from.at("text").get<std::string>(),
                  .exception_type = from.at("exception").get<std::string>()};
  record.cancelled = from.at("cancelled").get<bool>();
  record.request = read_payload(from.at("request"));
  if (const json& reply = from.at("reply"); !reply.is_null()) record.reply = read_payload(reply);
  if (record.reply.has_value() != (record.error.code == call_errc::ok))
    throw std::invalid_argument("a call that is ok has a reply, and no other one has");
  return record;
}

}  // namespace

namespace detail {

std::string to_json(const call_record& record) {
  char connection[17] = {};
  std::snprintf(connection, sizeof connection, "%016llx", static_cast<unsigned long long>(record.connection));
  const auto moment = [](std::int64_t ns) { return ns != 0 ? ordered_json(ns) : ordered_json(); };
  return write_json(
      ordered_json{{"client", {{"name", record.client.name}, {"host", record.client.host}, {"pid", record.client.pid}}},
                   {"connection", connection},
                   {"id", record.id},
                   {"received_ns", record.received_ns},
                   {"started_ns", moment(record.started_ns)},
                   {"finished_ns", record.finished_ns},
                   {"deadline_ns", record.deadline_ns},
                   {"outcome", to_string(record.error.code)},
                   {"code", static_cast<int>(record.error.code)},
                   {"number", record.error.number},
                   {"text", record.error.text},
                   {"exception", record.error.exception_type},
                   {"cancelled", record.cancelled},
                   {"request", json_of_payload(record.request)},
                   {"reply", record.reply ? json_of_payload(*record.reply) : ordered_json()}});
}

}  // namespace detail

std::string call_record_topic(std::string_view service) { return std::string(service).append(record_suffix); }

result read_call_record(std::span<const std::byte> sample, call_record& found) try {
  if (sample.size() > max_call_record_bytes) throw std::invalid_argument("it is too large");
  json read;
  if (const auto problem = detail::read_json({reinterpret_cast<const char*>(sample.data()), sample.size()}, read))
    throw std::invalid_argument(problem->text);
  found = read_record(read);
  return {};
} catch (const std::bad_alloc&) {
  return errc::no_memory;
} catch (const std::exception& problem) {
  return {errc::bad_argument, std::string("this is no record of a call: ") + problem.what()};
}

}  // namespace orc
