// JSON text (RFC 8259), written front to back.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace orc::cli {

// The caller keeps begin/end and key/value in order; commas and escapes are done here. Bytes that are not UTF-8 become
// U+FFFD, so that the text is always valid.
class json_writer {
 public:
  json_writer& begin_object();
  json_writer& end_object();
  json_writer& begin_array();
  json_writer& end_array();
  json_writer& key(std::string_view name);
  json_writer& value(std::string_view text);
  json_writer& value(const char* text) { return value(std::string_view(text)); }
  json_writer& value(bool truth);
  json_writer& value(std::uint64_t number);
  json_writer& value(std::int64_t number);
  json_writer& value(double number);  // null when it is not finite
  json_writer& null();

  template <typename T>
  json_writer& member(std::string_view name, const T& content) {
    return key(name).value(content);
  }
  json_writer& member(std::string_view name, std::uint32_t number) { return key(name).value(std::uint64_t{number}); }

  [[nodiscard]] const std::string& text() const noexcept { return text_; }

 private:
  void separate();
  json_writer& raw(std::string_view token);

  std::string text_;
  std::vector<bool> has_items_;  // per open object or array
  bool after_key_ = false;
};

}  // namespace orc::cli
