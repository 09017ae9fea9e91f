#include "json_writer.h"

#include <charconv>
#include <cmath>

#include "text.h"

namespace orc::cli {

void json_writer::separate() {
  if (after_key_) {
    after_key_ = false;
  } else if (!has_items_.empty()) {
    if (has_items_.back()) text_ += ',';
    has_items_.back() = true;
  }
}

json_writer& json_writer::raw(std::string_view token) {
  separate();
  text_ += token;
  return *this;
}

json_writer& json_writer::begin_object() {
  raw("{");
  has_items_.push_back(false);
  return *this;
}

json_writer& json_writer::end_object() {
  has_items_.pop_back();
  text_ += '}';
  return *this;
}

json_writer& json_writer::begin_array() {
  raw("[");
  has_items_.push_back(false);
  return *this;
}

json_writer& json_writer::end_array() {
  has_items_.pop_back();
  text_ += ']';
  return *this;
}

json_writer& json_writer::key(std::string_view name) {
  value(name);
  text_ += ':';
  after_key_ = true;
  return *this;
}

json_writer& json_writer::value(std::string_view content) {
  static constexpr char hex[] = "0123456789abcdef";
  raw("\"");
  while (!content.empty()) {
    const std::size_t length = utf8_length(content);
    const auto first = static_cast<unsigned char>(content.front());
    if (length == 0) {
      text_ += "\xEF\xBF\xBD";
    } else if (first == '"' || first == '\\') {
      text_ += '\\';
      text_ += content.front();
    } else if (first == '\n') {
      text_ += "\\n";
    } else if (first == '\t') {
      text_ += "\\t";
    } else if (first < 0x20 || first == 0x7F) {
      text_ += "\\u00";
      text_ += hex[first >> 4];
      text_ += hex[first & 15];
    } else {
      text_ += content.substr(0, length);
    }
    content.remove_prefix(length == 0 ? 1 : length);
  }
  text_ += '"';
  return *this;
}

json_writer& json_writer::value(bool truth) { return raw(truth ? "true" : "false"); }

json_writer& json_writer::value(std::uint64_t number) { return raw(std::to_string(number)); }

json_writer& json_writer::value(std::int64_t number) { return raw(std::to_string(number)); }

json_writer& json_writer::value(double number) {
  if (!std::isfinite(number)) return null();
  char digits[32];
  const auto end = std::to_chars(digits, digits + sizeof digits, number).ptr;
  return raw({digits, static_cast<std::size_t>(end - digits)});
}

json_writer& json_writer::null() { return raw("null"); }

}  // namespace orc::cli
