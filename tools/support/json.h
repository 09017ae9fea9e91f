// Writes JSON: objects of numbers, strings and lists of numbers, in a list. Enough for the benchmarks' results.
#pragma once

#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

namespace orc::bench {

class json_object {
 public:
  template <std::integral Integer>
  json_object& add(std::string_view key, Integer value) {
    if constexpr (std::same_as<Integer, bool>) return raw(key, value ? "true" : "false");
    return raw(key, std::to_string(value));
  }
  json_object& add(std::string_view key, double value) { return raw(key, number(value)); }
  json_object& add(std::string_view key, std::string_view value) { return raw(key, quoted(value)); }
  json_object& add(std::string_view key, const char* value) { return add(key, std::string_view(value)); }
  json_object& add(std::string_view key, const std::vector<double>& values) {
    std::string list = "[";
    for (const double value : values) list += (list.size() > 1 ? "," : "") + number(value);
    return raw(key, list + "]");
  }

  [[nodiscard]] std::string text() const { return "{" + fields_ + "}"; }

 private:
  static std::string number(double value) {
    if (!std::isfinite(value)) return "null";
    char text[48];
    std::snprintf(text, sizeof text, "%.3f", value);
    return text;
  }
  static std::string quoted(std::string_view value) {
    std::string text = "\"";
    for (const char c : value) {
      if (c == '"' || c == '\\') text += '\\';
      text += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
    return text + "\"";
  }
  json_object& raw(std::string_view key, const std::string& value) {
    fields_ += (fields_.empty() ? "" : ", ") + quoted(key) + ": " + value;
    return *this;
  }

  std::string fields_;
};

inline std::string to_json(const std::vector<json_object>& objects) {
  std::string text = "[\n";
  for (std::size_t i = 0; i < objects.size(); ++i) {
    text += "  " + objects[i].text() + (i + 1 < objects.size() ? ",\n" : "\n");
  }
  return text + "]\n";
}

// "-" is stdout. False when the file cannot be written (errno says why).
inline bool write_text(const std::string& path, const std::string& text) {
  if (path == "-") return std::fputs(text.c_str(), stdout) >= 0 && std::fflush(stdout) == 0;
  std::FILE* file = std::fopen(path.c_str(), "w");
  if (file == nullptr) return false;
  const bool written = std::fputs(text.c_str(), file) >= 0;
  return std::fclose(file) == 0 && written;
}

}  // namespace orc::bench
