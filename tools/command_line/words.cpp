#include "tools/command_line/words.h"

#include <cstddef>

namespace orc::cli {

std::string joined(std::span<const std::string> words, std::string_view separator, std::string_view before_last) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i != 0) text += i + 1 == words.size() ? before_last : separator;
    text += words[i];
  }
  return text;
}

std::string joined(std::span<const std::string> words, std::string_view separator) {
  return joined(words, separator, separator);
}

}  // namespace orc::cli
