// The cases of schemas/golden/type_checks.json.
#pragma once

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "orc/type_description.h"
#include "schema/structure/json_reader.h"

namespace orc::test {

struct type_check_case {
  std::string name;
  type_description published;
  type_description expected;
  std::string publisher;
  std::string result;
  std::string message;
};

inline std::string decoded_base64(std::string_view text) {
  constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  unsigned bits = 0;
  int count = 0;
  for (const char c : text) {
    const auto digit = digits.find(c);
    if (digit == std::string_view::npos) break;
    bits = (bits << 6) | static_cast<unsigned>(digit);
    count += 6;
    if (count < 8) continue;
    count -= 8;
    bytes += static_cast<char>((bits >> count) & 0xFF);
  }
  return bytes;
}

// Empty: the file cannot be read.
inline std::vector<type_check_case> type_check_cases() {
  const char* const root = std::getenv("ORC_SOURCE_DIR");
  std::ifstream file(std::string(root == nullptr ? "." : root) + "/schemas/golden/type_checks.json");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  std::vector<type_check_case> cases;
  const auto document = detail::json_document::parse(text);
  if (!document) return cases;
  const auto text_of = [](const detail::json_value& from, std::string_view key) {
    const auto found = from.member(key);
    return found ? found->text() : std::string();
  };
  const auto type_of = [&](const detail::json_value& from, std::string_view key) {
    const auto found = from.member(key);
    if (!found) return type_description{};
    return type_description{text_of(*found, "name"), text_of(*found, "schema_encoding"),
                            text_of(*found, "message_encoding"), decoded_base64(text_of(*found, "schema_base64"))};
  };
  for (auto each = document->root().first(); each; each = each->next()) {
    cases.push_back({text_of(*each, "case"), type_of(*each, "published"), type_of(*each, "expected"),
                     text_of(*each, "publisher"), text_of(*each, "result"), text_of(*each, "message")});
  }
  return cases;
}

// The published type of a case; an empty one, if there is no such case.
inline type_description published_in(std::string_view name) {
  for (const auto& each : type_check_cases()) {
    if (each.name == name) return each.published;
  }
  return {};
}

}  // namespace orc::test
