#include "tools/web/json_text.h"

#include <cmath>

#include "base/text/printable.h"

namespace orc::web {

namespace {

template <class Real>
void append_real(std::string& to, Real number) {
  if (!std::isfinite(number)) {
    to += "null";
    return;
  }
  char digits[64];
  to.append(digits, std::to_chars(digits, digits + sizeof digits, number).ptr);
}

void append_escape(std::string& to, unsigned char c) {
  constexpr char hex[] = "0123456789abcdef";
  switch (c) {
    case '"': to += "\\\""; return;
    case '\\': to += "\\\\"; return;
    case '\n': to += "\\n"; return;
    case '\t': to += "\\t"; return;
    default:
      to += "\\u00";
      to += hex[c >> 4];
      to += hex[c & 15];
  }
}

}  // namespace

void append_quoted(std::string& to, std::string_view text) {
  to += '"';
  while (!text.empty()) {
    // plain characters at once
    std::size_t plain = 0;
    while (plain < text.size()) {
      const auto c = static_cast<unsigned char>(text[plain]);
      if (c < 0x20 || c >= 0x7f || c == '"' || c == '\\') break;
      ++plain;
    }
    to += text.substr(0, plain);
    text.remove_prefix(plain);
    if (text.empty()) break;
    const auto c = static_cast<unsigned char>(text.front());
    if (c <= 0x7f) {
      append_escape(to, c);
      text.remove_prefix(1);
      continue;
    }
    const std::size_t length = detail::utf8_length(text);
    if (length == 0) {
      to += "\xef\xbf\xbd";
      text.remove_prefix(1);
    } else {
      to += text.substr(0, length);
      text.remove_prefix(length);
    }
  }
  to += '"';
}

void append_number(std::string& to, double number) { append_real(to, number); }
void append_number(std::string& to, float number) { append_real(to, number); }

std::string error_text(std::string_view about, std::int64_t id, std::string_view message) {
  std::string text = R"({"op":"error","about":)";
  append_quoted(text, about);
  if (id >= 0) {
    text += R"(,"id":)";
    append_number(text, id);
  }
  text += R"(,"message":)";
  append_quoted(text, message);
  text += '}';
  return text;
}

}  // namespace orc::web
