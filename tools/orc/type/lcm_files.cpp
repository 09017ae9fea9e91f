#include "tools/orc/type/lcm_files.h"

#include <cctype>
#include <cstddef>
#include <utility>

namespace orc::cli {

namespace {

// Returns the text without its comments.
std::string without_comments(std::string_view text) {
  std::string code;
  for (std::size_t at = 0; at < text.size();) {
    const bool line = text.substr(at, 2) == "//";
    if (!line && text.substr(at, 2) != "/*") {
      code += text[at++];
      continue;
    }
    const auto end = line ? text.find('\n', at) : text.find("*/", at + 2);
    if (end == std::string_view::npos) break;
    at = line ? end : end + 2;
    code += ' ';
  }
  return code;
}

bool is_part_of_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.'; }

}  // namespace

std::vector<std::string> lcm_names_in(std::string_view text) {
  const std::string code = without_comments(text);
  std::vector<std::string> names;
  std::string package;
  std::string before;  // the word in front of this one
  for (std::size_t at = 0; at < code.size();) {
    if (!is_part_of_name(code[at])) {
      ++at;
      continue;
    }
    std::string word;
    while (at < code.size() && is_part_of_name(code[at])) word += code[at++];
    if (before == "package") package = word;
    if (before == "struct")
      names.push_back(package.empty() || word.find('.') != std::string::npos ? word : package + "." + word);
    before = std::move(word);
  }
  return names;
}

}  // namespace orc::cli
