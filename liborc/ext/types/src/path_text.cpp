#include "path_text.h"

#include <algorithm>
#include <charconv>
#include <string>

#include "trail.h"

namespace orc::types::detail {
namespace {

result bad_path(std::string_view text, std::size_t at, std::string_view what) {
  std::string sentence = "`" + shown(text) + "` is no path to a field: at character " + std::to_string(at + 1) + " ";
  sentence += what;
  return {errc::bad_argument, std::move(sentence)};
}

}  // namespace

result read_path(std::string_view text, std::vector<field_path::part>& parts) {
  parts.clear();
  std::size_t at = 0;
  while (at < text.size()) {
    if (parts.size() >= 2 * max_depth) return bad_path(text, at, "it is deeper than a sample can be");
    field_path::part& part = parts.emplace_back();
    if (text[at] == '[') {
      const char* end = text.data() + text.size();
      const auto [behind, failed] = std::from_chars(text.data() + at + 1, end, part.index);
      if (failed != std::errc() || behind == end || *behind != ']') return bad_path(text, at, "a [number] is expected");
      part.element = true;
      at = static_cast<std::size_t>(behind - text.data()) + 1;
    } else {
      if (parts.size() > 1 && text[at++] != '.') return bad_path(text, at - 1, "a '.' or '[' is expected");
      const std::size_t end = std::min(text.find_first_of(".[]", at), text.size());
      if (end == at) return bad_path(text, at, "a name is expected");
      part.name = text.substr(at, end - at);
      at = end;
    }
  }
  return {};
}

}  // namespace orc::types::detail
