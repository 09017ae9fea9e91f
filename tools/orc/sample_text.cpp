#include "sample_text.h"

#include "text.h"
#include "tools/support/json.h"

namespace orc::cli {

namespace {

constexpr std::size_t longest_text = 256;
constexpr std::size_t longest_hex = 64;

bool shown_as_text(std::string_view payload, payload_style style) {
  return style == payload_style::text || (style == payload_style::automatic && is_printable(payload));
}

// At most `limit` bytes, without a torn character at the end.
std::string_view head(std::string_view text, std::size_t limit) {
  if (text.size() <= limit) return text;
  std::size_t end = limit;
  while (end > limit - 4 && (static_cast<unsigned char>(text[end]) & 0xC0u) == 0x80u) --end;
  return text.substr(0, end);
}

}  // namespace

std::string sample_line(const message& sample, payload_style style, bool full) {
  const std::string_view payload = as_text(sample.bytes());
  const bool text = shown_as_text(payload, style);
  const std::string_view shown = full ? payload : text ? head(payload, longest_text) : payload.substr(0, longest_hex);
  std::string line = "seq=" + std::to_string(sample.sequence()) +
                     " age_us=" + fixed(static_cast<double>(sample.age_ns()) / 1e3, 1) +
                     " size=" + std::to_string(payload.size()) + " missed=" + std::to_string(sample.missed());
  line += text ? " text=" + escaped(shown) : " hex=" + hex(shown);
  if (shown.size() < payload.size()) line += "...(+" + std::to_string(payload.size() - shown.size()) + ")";
  return line;
}

std::string sample_json(const std::string& topic, const message& sample, payload_style style) {
  const std::string_view payload = as_text(sample.bytes());
  json_value json = {{"topic", topic},
                     {"sequence", sample.sequence()},
                     {"stamp_ns", sample.stamp_ns()},
                     {"age_ns", sample.age_ns()},
                     {"missed", sample.missed()},
                     {"size", payload.size()}};
  if (shown_as_text(payload, style))
    json["text"] = payload;
  else
    json["hex"] = hex(payload);
  return to_text(json);
}

}  // namespace orc::cli
