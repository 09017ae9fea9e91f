#include "tools/web/ros2/ros2_names.h"

#include <vector>

namespace orc::web {
namespace {

// Leaves room for a number below the 255 bytes of a name.
constexpr std::size_t most_bytes = 240;
// Types are named after the fields that lead to them, so their names would grow with each level.
constexpr std::size_t most_type_bytes = 80;

bool is_lower(char c) noexcept { return c >= 'a' && c <= 'z'; }
bool is_upper(char c) noexcept { return c >= 'A' && c <= 'Z'; }
bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }
char lower(char c) noexcept { return is_upper(c) ? static_cast<char>(c - 'A' + 'a') : c; }
char upper(char c) noexcept { return is_lower(c) ? static_cast<char>(c - 'a' + 'A') : c; }

// Whether a word begins here, within letters and digits: "jointPos", "IMUData".
bool begins_word(std::string_view text, std::size_t at) noexcept {
  if (at == 0 || !is_upper(text[at])) return false;
  const char before = text[at - 1];
  return is_lower(before) || is_digit(before) || (is_upper(before) && at + 1 < text.size() && is_lower(text[at + 1]));
}

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  bool inside = false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char each = text[at];
    if (!is_lower(each) && !is_upper(each) && !is_digit(each)) {
      inside = false;
      continue;
    }
    if (!inside || begins_word(text, at)) words.emplace_back();
    words.back() += each;
    inside = true;
  }
  return words;
}

std::string snake_name(std::string_view text, char (*changed)(char) noexcept, std::string_view instead) {
  std::string made;
  for (const auto& word : words_of(text)) {
    if (!made.empty()) made += '_';
    for (const char each : word) made += changed(each);
  }
  if (made.empty()) return std::string(instead);
  if (is_digit(made.front())) made = std::string(instead) + "_" + made;
  if (made.size() > most_bytes) made.resize(most_bytes);
  if (made.back() == '_') made.pop_back();
  return made;
}

}  // namespace

std::string ros2_field_name(std::string_view text) { return snake_name(text, lower, "field"); }

std::string ros2_constant_name(std::string_view text) { return snake_name(text, upper, "VALUE"); }

std::string ros2_type_name(std::string_view text) {
  std::string made;
  for (auto& word : words_of(text)) {
    word.front() = upper(word.front());
    made += word;
  }
  if (made.empty() || is_digit(made.front())) made.insert(0, "Type");
  if (made.size() > most_type_bytes) made.resize(most_type_bytes);
  return made;
}

std::string unique_names::add_variant(const std::string& name, std::string_view separator) {
  if (add(name)) return name;
  std::size_t& number = next_.try_emplace(name, 2).first->second;
  while (true) {
    std::string made = name;
    made += separator;
    made += std::to_string(number++);
    if (add(made)) return made;
  }
}

}  // namespace orc::web
