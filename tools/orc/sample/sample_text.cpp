#include "tools/orc/sample/sample_text.h"

#include <nlohmann/json.hpp>
#include <vector>

#include "tools/command_line/words.h"
#include "tools/orc/text.h"
#include "tools/orc/topic/topic_text.h"
#include "tools/support/json.h"

namespace orc::cli {

namespace {

constexpr std::size_t max_text_length = 256;
constexpr std::size_t max_hex_length = 64;

bool shown_as_text(std::string_view payload, const payload_style& style) {
  if (style.numbers) return false;
  return style.shown == payload_style::form::text ||
         (style.shown == payload_style::form::automatic && is_printable(payload));
}

std::optional<std::vector<std::string>> numbers_of(std::string_view payload, const payload_style& style) {
  return style.numbers ? style.numbers->numbers(payload) : std::nullopt;
}

// JSON has no word for infinity and NaN.
bool is_json_number(const std::string& number) { return number.find_first_of("an") == std::string::npos; }

// At most `limit` bytes, without a torn character at the end.
std::string_view head(std::string_view text, std::size_t limit) {
  if (text.size() <= limit) return text;
  std::size_t end = limit;
  while (end > limit - 4 && (static_cast<unsigned char>(text[end]) & 0xC0u) == 0x80u) --end;
  return text.substr(0, end);
}

// Appends a member whose value is JSON already.
std::string with(const json_value& json, const char* name, const std::string& value) {
  std::string text = to_text(json);
  text.pop_back();
  return text + ",\"" + name + "\":" + value + "}";
}

}  // namespace

sample_labels labels_of(const std::string& topic, const message& sample, const publisher_info& from) {
  const std::int64_t age_ns = sample.age_ns();
  sample_labels made{topic,
                     "seq=" + std::to_string(sample.sequence()) +
                         " age_us=" + fixed(static_cast<double>(age_ns) / 1e3, 1) +
                         " size=" + std::to_string(sample.size()) + " missed=" + std::to_string(sample.missed()),
                     {{"topic", topic},
                      {"sequence", sample.sequence()},
                      {"stamp_ns", sample.stamp_ns()},
                      {"age_ns", age_ns},
                      {"missed", sample.missed()},
                      {"size", sample.size()}}};
  if (sample.publisher() == 0) return made;
  const participant_state by{.id = {}, .name = from.name, .host = from.host, .pid = from.pid, .library = {}};
  made.line = "publisher=" + participant_text(by) + " " + made.line;
  made.json["publisher"] = json_of(by);
  return made;
}

sample_labels labels_of(const std::string& topic, const recording::sample& sample, std::int64_t first_ns) {
  return {topic,
          "t=" + fixed(static_cast<double>(sample.received_ns - first_ns) / 1e9, 6) + " topic=" + escaped(topic) +
              " seq=" + std::to_string(sample.sequence) + " size=" + std::to_string(sample.data.size()),
          {{"topic", topic},
           {"sequence", sample.sequence},
           {"received_ns", static_cast<std::uint64_t>(sample.received_ns) + sample.received_excess_ns},
           {"stamp_ns", static_cast<std::uint64_t>(sample.stamp_ns) + sample.stamp_excess_ns},
           {"size", sample.data.size()}}};
}

std::string sample_line(const sample_labels& labels, std::span<const std::byte> sample, const payload_style& style,
                        bool full) {
  const std::string_view payload = as_text(sample);
  const bool text = shown_as_text(payload, style);
  std::string line = labels.line;
  if (const auto numbers = numbers_of(payload, style)) return line + " numbers=" + joined(*numbers, " ");
  const std::string_view shown = full   ? payload
                                 : text ? head(payload, max_text_length)
                                        : payload.substr(0, max_hex_length);
  line += text ? " text=" + escaped(shown) : " hex=" + hex(shown);
  if (shown.size() < payload.size()) line += "...(+" + std::to_string(payload.size() - shown.size()) + ")";
  if (style.numbers)
    line += " (" + style.numbers->text() + " has " + std::to_string(style.numbers->bytes()) + " bytes)";
  return line;
}

std::string sample_json(const sample_labels& labels, std::span<const std::byte> sample, const payload_style& style) {
  const std::string_view payload = as_text(sample);
  json_value json = labels.json;
  if (const auto numbers = numbers_of(payload, style)) {
    json_value& list = json["numbers"] = json_value::array();
    for (const std::string& each : *numbers) list.push_back(is_json_number(each) ? json_of_own(each) : nullptr);
  } else if (shown_as_text(payload, style)) {
    json["text"] = payload;
  } else {
    json["hex"] = hex(payload);
  }
  return to_text(json);
}

std::string typed_json(const sample_labels& labels, const std::string& type, const std::string& value) {
  json_value json = labels.json;
  json["type"] = type;
  return with(json, "value", value);
}

std::string fields_json(const sample_labels& labels, const std::vector<std::string>& fields,
                        const std::vector<std::string>& values) {
  std::string members;
  for (std::size_t i = 0; i < fields.size(); ++i)
    members += (i == 0 ? "" : ",") + to_text(json_value(fields[i])) + ":" + values[i];
  return with(labels.json, "fields", "{" + members + "}");
}

}  // namespace orc::cli
