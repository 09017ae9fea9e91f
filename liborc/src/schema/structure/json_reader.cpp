#include "schema/structure/json_reader.h"

#include <algorithm>
#include <charconv>

#include "base/text/printable.h"
#include "orc/type_description.h"
#include "schema/limits.h"

namespace orc::detail {
namespace {

bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }

std::optional<unsigned> hex_value(std::string_view four) noexcept {
  unsigned value = 0;
  if (four.size() != 4) return {};
  const auto read = std::from_chars(four.data(), four.data() + 4, value, 16);
  if (read.ec != std::errc() || read.ptr != four.data() + 4) return {};
  return value;
}

bool is_high_surrogate(unsigned c) noexcept { return c >= 0xD800 && c < 0xDC00; }
bool is_low_surrogate(unsigned c) noexcept { return c >= 0xDC00 && c < 0xE000; }

void append_utf8(std::string& to, char32_t c) {
  const auto put = [&to](char32_t byte) { to += static_cast<char>(static_cast<unsigned char>(byte)); };
  if (c < 0x80) {
    put(c);
  } else if (c < 0x800) {
    put(0xC0 | (c >> 6));
    put(0x80 | (c & 0x3F));
  } else if (c < 0x10000) {
    put(0xE0 | (c >> 12));
    put(0x80 | ((c >> 6) & 0x3F));
    put(0x80 | (c & 0x3F));
  } else {
    put(0xF0 | (c >> 18));
    put(0x80 | ((c >> 12) & 0x3F));
    put(0x80 | ((c >> 6) & 0x3F));
    put(0x80 | (c & 0x3F));
  }
}

}  // namespace

// Recursive descent; the depth is limited. Each function returns false after it set the error.
class json_parser {
 public:
  explicit json_parser(std::string_view text) noexcept : text_(text) { made_.text_ = text; }

  expected<json_document> parse() {
    skip_space();
    if (!value(0)) return error();
    skip_space();
    if (at_ < text_.size()) {
      fail("something follows the value");
      return error();
    }
    return std::move(made_);
  }

 private:
  [[nodiscard]] orc::error error() const {
    return bad_schema("byte " + std::to_string(at_) + ": " + std::string(why_));
  }
  bool fail(std::string_view why) {
    why_ = why;
    return false;
  }
  [[nodiscard]] char peek() const noexcept { return at_ < text_.size() ? text_[at_] : '\0'; }
  bool take(char c) noexcept {
    if (peek() != c || at_ >= text_.size()) return false;
    ++at_;
    return true;
  }
  void skip_space() noexcept {
    while (at_ < text_.size() && std::string_view(" \t\r\n").find(text_[at_]) != std::string_view::npos) ++at_;
  }

  std::size_t begin(json_kind kind) {
    json_document::node made;
    made.begin = static_cast<std::uint32_t>(at_);
    made.kind = kind;
    made_.nodes_.push_back(made);
    return made_.nodes_.size() - 1;
  }
  bool finish(std::size_t which) noexcept {
    made_.nodes_[which].end = static_cast<std::uint32_t>(at_);
    return true;
  }
  // The value `which` is followed by the next node to be made.
  void link(std::size_t which) noexcept { made_.nodes_[which].next = static_cast<std::uint32_t>(made_.nodes_.size()); }

  bool value(std::size_t level) {
    switch (peek()) {
      case '{':
      case '[':
        if (level == max_json_levels) return fail("values are nested more than 128 levels deep");
        return peek() == '{' ? object(level) : array(level);
      case '"': return string();
      case 't': return word("true", json_kind::boolean);
      case 'f': return word("false", json_kind::boolean);
      case 'n': return word("null", json_kind::null);
      default: return number();
    }
  }

  bool word(std::string_view what, json_kind kind) {
    if (text_.substr(at_, what.size()) != what) return fail("a value is expected");
    const auto which = begin(kind);
    at_ += what.size();
    return finish(which);
  }

  bool digits() {
    if (!is_digit(peek())) return fail("a digit is expected");
    while (is_digit(peek())) ++at_;
    return true;
  }

  bool number() {
    if (peek() != '-' && !is_digit(peek())) return fail("a value is expected");
    const auto which = begin(json_kind::number);
    take('-');
    if (!take('0') && !digits()) return false;
    if (take('.') && !digits()) return false;
    if (peek() == 'e' || peek() == 'E') {
      ++at_;
      if (!take('+')) take('-');
      if (!digits()) return false;
    }
    return finish(which);
  }

  bool string() {
    const auto which = begin(json_kind::text);
    ++at_;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '"') {
        ++at_;
        return finish(which);
      }
      if (c == '\\') {
        if (!escape()) return false;
        continue;
      }
      if (static_cast<unsigned char>(c) < 0x20) return fail("a control character in a text");
      const auto length = utf8_length(text_.substr(at_));
      if (length == 0) return fail("a text is not UTF-8");
      at_ += length;
    }
    return fail("a text does not end");
  }

  bool escape() {
    const char c = at_ + 1 < text_.size() ? text_[at_ + 1] : '\0';
    if (c != 'u') {
      if (c == '\0' || std::string_view("\"\\/bfnrt").find(c) == std::string_view::npos) {
        return fail("an unknown escape");
      }
      at_ += 2;
      return true;
    }
    const auto first = hex_value(text_.substr(std::min(at_ + 2, text_.size()), 4));
    if (!first) return fail("\\u needs four hexadecimal digits");
    if (is_low_surrogate(*first)) return fail("half of a surrogate pair");
    if (is_high_surrogate(*first)) {
      if (text_.substr(std::min(at_ + 6, text_.size()), 2) != "\\u") return fail("half of a surrogate pair");
      const auto second = hex_value(text_.substr(std::min(at_ + 8, text_.size()), 4));
      if (!second || !is_low_surrogate(*second)) return fail("half of a surrogate pair");
      at_ += 6;
    }
    at_ += 6;
    return true;
  }

  bool array(std::size_t level) {
    const auto which = begin(json_kind::array);
    ++at_;
    skip_space();
    if (take(']')) return finish(which);
    made_.nodes_[which].empty = false;
    while (true) {
      const auto element = made_.nodes_.size();
      if (!value(level + 1)) return false;
      skip_space();
      if (take(']')) return finish(which);
      if (!take(',')) return fail("`,` or `]` is expected");
      link(element);
      skip_space();
    }
  }

  bool object(std::size_t level) {
    const auto which = begin(json_kind::object);
    ++at_;
    skip_space();
    if (take('}')) return finish(which);
    made_.nodes_[which].empty = false;
    while (true) {
      if (peek() != '"') return fail("a name in quotes is expected");
      const auto key = made_.nodes_.size();
      if (!string()) return false;
      link(key);
      skip_space();
      if (!take(':')) return fail("`:` is expected");
      skip_space();
      const auto element = made_.nodes_.size();
      if (!value(level + 1)) return false;
      skip_space();
      if (take('}')) return finish(which);
      if (!take(',')) return fail("`,` or `}` is expected");
      link(element);
      skip_space();
    }
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::string_view why_;
  json_document made_;
};

expected<json_document> json_document::parse(std::string_view text) {
  if (text.size() > max_schema_bytes) return bad_schema("it has more than 1 MiB");
  return json_parser(text).parse();
}

json_kind json_value::kind() const noexcept { return document_->nodes_[index_].kind; }

std::size_t json_value::offset() const noexcept { return document_->nodes_[index_].begin; }

std::optional<std::int64_t> json_value::integer() const noexcept {
  const auto& node = document_->nodes_[index_];
  if (node.kind != json_kind::number) return {};
  const auto text = document_->text_.substr(node.begin, node.end - node.begin);
  std::int64_t value = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  if (read.ec != std::errc() || read.ptr != text.data() + text.size()) return {};
  return value;
}

std::string json_value::text() const {
  const auto& node = document_->nodes_[index_];
  std::string made;
  if (node.kind != json_kind::text) return made;
  const auto raw = document_->text_.substr(node.begin + 1, node.end - node.begin - 2);
  for (std::size_t at = 0; at < raw.size(); ++at) {
    if (raw[at] != '\\') {
      made += raw[at];
      continue;
    }
    switch (raw[++at]) {
      case 'b': made += '\b'; break;
      case 'f': made += '\f'; break;
      case 'n': made += '\n'; break;
      case 'r': made += '\r'; break;
      case 't': made += '\t'; break;
      case 'u': {
        const unsigned first = hex_value(raw.substr(at + 1, 4)).value_or(0);
        at += 4;
        if (is_high_surrogate(first)) {
          const unsigned second = hex_value(raw.substr(at + 3, 4)).value_or(0);
          at += 6;
          append_utf8(made, 0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00));
        } else {
          append_utf8(made, first);
        }
        break;
      }
      default: made += raw[at];
    }
  }
  return made;
}

std::optional<json_value> json_value::first() const noexcept {
  const auto& node = document_->nodes_[index_];
  if ((node.kind != json_kind::array && node.kind != json_kind::object) || node.empty) return {};
  return json_value(*document_, index_ + 1);
}

std::optional<json_value> json_value::next() const noexcept {
  const auto next = document_->nodes_[index_].next;
  if (next == 0) return {};
  return json_value(*document_, next);
}

std::optional<json_value> json_value::member(std::string_view key) const {
  std::optional<json_value> found;
  if (kind() != json_kind::object) return found;
  for (auto each = first(); each;) {
    const auto value = each->next();
    if (each->text() == key) found = value;
    each = value->next();
  }
  return found;
}

}  // namespace orc::detail
