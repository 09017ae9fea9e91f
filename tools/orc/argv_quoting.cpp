#include "argv_quoting.h"

#include <algorithm>

namespace orc::cli {

namespace {

constexpr char mark = '\x1f';  // at the end of a word that would otherwise end in ]

}  // namespace

std::vector<std::string> quoted_arguments(int argc, char** argv) {
  std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
  const bool publishes =
      (words.size() > 2 && words[0] == "topic" && words[1] == "pub") || (!words.empty() && words[0] == "replay");
  for (std::string& word : words) {
    if (publishes && word.starts_with('[') && (word.ends_with(']') || word.ends_with(mark))) word += mark;
  }
  std::reverse(words.begin(), words.end());
  return words;
}

std::string unquoted(const std::string& word) {
  const bool marked = word.starts_with('[') && word.ends_with(mark);
  return marked ? word.substr(0, word.size() - 1) : word;
}

}  // namespace orc::cli
