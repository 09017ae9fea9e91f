#include "tools/orc/sample/typed_words.h"

#include "tools/orc/argv_quoting.h"
#include "tools/orc/text.h"

namespace orc::cli {

std::string typed_text(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (&word == words.data() ? "" : " ") + unquoted(word);
  return text;
}

std::optional<std::string> typed_hex(console& out, const std::string& typed) {
  auto bytes = from_hex(typed);
  if (!bytes) out.note("'" + escaped(typed.substr(0, 60)) + "' is not hexadecimal: write two digits for each byte");
  return bytes;
}

}  // namespace orc::cli
