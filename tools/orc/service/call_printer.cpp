#include "tools/orc/service/call_printer.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

#include "orc/types/json.h"
#include "tools/orc/recording/recording_time.h"
#include "tools/orc/text.h"
#include "tools/orc/topic/topic_text.h"

namespace orc::cli {

namespace {

constexpr std::size_t max_line_text = 256;          // bytes of a request, a reply or an error on a line
constexpr std::size_t max_line_hex = 32;            // bytes that are shown as digits
constexpr std::size_t max_line_elements = 16;       // longer arrays end with "… 997 more"
constexpr std::size_t max_value_bytes = 4'000'000;  // bytes of a value: 64 KiB of payload can ask for more

std::unique_ptr<types::decoder> decoder_for(const type_description& type) {
  std::unique_ptr<types::decoder> made;
  if (!type.empty() && !types::decoder::make(type, made)) made.reset();
  return made;
}

std::optional<std::string> decoded_value(const types::decoder* by, const call_payload& payload, std::size_t fold) {
  std::string text;
  if (by == nullptr || payload.is_cut) return std::nullopt;
  if (!types::to_json(*by, std::as_bytes(std::span(payload.bytes)), {.fold = fold, .max_bytes = max_value_bytes}, text))
    return std::nullopt;
  return text;
}

// Escaped, and not longer than a line should be.
std::string short_text(std::string_view text) {
  std::size_t end = std::min(text.size(), max_line_text);
  while (end < text.size() && end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
  return escaped(text.substr(0, end)) + (end < text.size() ? "..." : "");
}

std::string short_payload(const types::decoder* by, const call_payload& payload) {
  if (const auto value = decoded_value(by, payload, max_line_elements)) return short_text(*value);
  if (payload.size == 0) return "-";
  const bool is_text = payload.is_json || is_printable(payload.bytes);
  const std::string shown = is_text ? short_text(payload.bytes)
                                    : "hex=" + hex(std::string_view(payload.bytes).substr(0, max_line_hex)) +
                                          (payload.bytes.size() > max_line_hex ? "..." : "");
  return payload.size > (is_text ? max_line_text : max_line_hex)
             ? shown + " (" + std::to_string(payload.size) + " bytes)"
             : shown;
}

std::string short_error(const call_error& error) {
  std::string text(to_string(error.code));
  if (error.code == call_errc::failed && error.number != 0) text += " " + std::to_string(error.number);
  if (!error.exception_type.empty()) text += " " + short_text(error.exception_type);
  return error.text.empty() ? text : text + ": " + short_text(error.text);
}

// Of a stranger's record the times can be any numbers.
std::string taken_text(const call_record& record) {
  std::int64_t taken = 0;
  if (__builtin_sub_overflow(record.finished_ns, record.received_ns, &taken) || taken < 0) return "?";
  return duration_text(taken);
}

participant_state program_of(const call_client& client) {
  return {.id = {}, .name = client.name, .host = client.host, .pid = client.pid, .library = {}};
}

json_value payload_json(const types::decoder* by, const call_payload& payload) {
  json_value out{{"size", payload.size}, {"cut", payload.is_cut}};
  if (const auto value = decoded_value(by, payload, 0))
    out["value"] = json_of_own(*value);
  else if (payload.is_json || is_printable(payload.bytes))
    out["text"] = payload.bytes;
  else
    out["hex"] = hex(payload.bytes);
  return out;
}

}  // namespace

call_printer::call_printer(const type_description& request, const type_description& reply)
    : request_(decoder_for(request)), reply_(decoder_for(reply)) {}

std::string call_printer::line(const call_record& record) const {
  std::string text = iso_text(record.finished_ns) + " " + participant_text(program_of(record.client)) + " call " +
                     std::to_string(record.id);
  text += record.started_ns == 0 ? ", never ran: " : " in " + taken_text(record) + ": ";
  text += short_payload(request_.get(), record.request) + " -> ";
  text += record.reply ? short_payload(reply_.get(), *record.reply) : short_error(record.error);
  if (record.cancelled && record.started_ns != 0) text += " (the client no longer waited)";
  return text;
}

std::string call_printer::json(const std::string& service, const call_record& record) const {
  const auto moment = [](std::int64_t ns) { return ns != 0 ? json_value(ns) : json_value(); };
  return to_text({{"service", service},
                  {"client", json_of(program_of(record.client))},
                  {"connection", hash_text(record.connection)},
                  {"id", record.id},
                  {"received_ns", record.received_ns},
                  {"started_ns", moment(record.started_ns)},
                  {"finished_ns", record.finished_ns},
                  {"deadline_ns", record.deadline_ns},
                  {"outcome", std::string(to_string(record.error.code))},
                  {"number", record.error.number},
                  {"text", record.error.text},
                  {"exception", record.error.exception_type},
                  {"cancelled", record.cancelled},
                  {"request", payload_json(request_.get(), record.request)},
                  {"reply", record.reply ? payload_json(reply_.get(), *record.reply) : json_value()}});
}

}  // namespace orc::cli
