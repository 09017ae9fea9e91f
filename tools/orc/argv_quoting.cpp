#include "tools/orc/argv_quoting.h"

#include <algorithm>

namespace orc::cli {

namespace {

// At the end of a word that would otherwise end in ], and before a number that would otherwise begin with a minus.
constexpr char mark = '\x1f';

// Whether the command takes words that may be JSON.
bool takes_json(const std::vector<std::string>& words) {
  if (!words.empty() && words[0] == "replay") return true;
  if (words.size() < 3) return false;
  const auto is = [&](const char* command, const char* subcommand) {
    return words[0] == command && words[1] == subcommand;
  };
  return is("topic", "pub") || is("service", "call") || is("param", "set");
}

bool is_negative_number(const std::string& word) {
  return word.size() > 1 && word[0] == '-' && std::string("0123456789.").find(word[1]) != std::string::npos;
}

}  // namespace

std::vector<std::string> quoted_arguments(int argc, char** argv) {
  std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
  const bool has_json = takes_json(words);
  const bool sets = words.size() > 2 && words[0] == "param" && words[1] == "set";
  for (std::string& word : words) {
    if (sets && (is_negative_number(word) || word.starts_with(mark))) word.insert(word.begin(), mark);
    if (has_json && word.starts_with('[') && (word.ends_with(']') || word.ends_with(mark))) word += mark;
  }
  std::reverse(words.begin(), words.end());
  return words;
}

std::string unquoted(const std::string& word) {
  if (word.starts_with(mark)) return word.substr(1);
  const bool marked = word.starts_with('[') && word.ends_with(mark);
  return marked ? word.substr(0, word.size() - 1) : word;
}

}  // namespace orc::cli
