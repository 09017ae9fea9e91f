// Sizes and tables as people read them.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace orc::bench {

inline constexpr std::size_t max_sample_bytes = 1'000'000'000;

// "10", "100k", "10M": decimal suffixes, 1 B to 1 GB.
inline std::optional<std::size_t> parse_size(std::string_view text) {
  std::size_t value = 0;
  const char* end = text.data() + text.size();
  const auto number = std::from_chars(text.data(), end, value);
  if (number.ec != std::errc()) return std::nullopt;
  const std::string_view suffix(number.ptr, static_cast<std::size_t>(end - number.ptr));
  std::size_t unit = 0;
  if (suffix.empty()) unit = 1;
  if (suffix == "k" || suffix == "K") unit = 1000;
  if (suffix == "M") unit = 1'000'000;
  if (unit == 0 || value == 0 || value > max_sample_bytes / unit) return std::nullopt;
  return value * unit;
}

inline std::string size_label(std::size_t bytes) {
  if (bytes >= 1'000'000 && bytes % 1'000'000 == 0) return std::to_string(bytes / 1'000'000) + " MB";
  if (bytes >= 1000 && bytes % 1000 == 0) return std::to_string(bytes / 1000) + " kB";
  return std::to_string(bytes) + " B";
}

inline std::string fixed(double value, int digits = 2) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", digits, value);
  return text;
}

// Three significant digits or so: 0.43, 13.2, 1722.
inline std::string us(double value) { return fixed(value, value < 10 ? 2 : value < 1000 ? 1 : 0); }

using table = std::vector<std::vector<std::string>>;

// First row: headings. First column to the left, the others to the right.
inline void print(std::FILE* to, const table& rows) {
  std::vector<std::size_t> width;
  for (const auto& row : rows) {
    width.resize(std::max(width.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) width[i] = std::max(width[i], row[i].size());
  }
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      const int w = static_cast<int>(width[i]);
      std::fprintf(to, i == 0 ? "%-*s" : "  %*s", w, row[i].c_str());
    }
    std::fputc('\n', to);
  }
  std::fflush(to);
}

}  // namespace orc::bench
