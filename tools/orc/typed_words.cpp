#include "typed_words.h"

#include "argv_quoting.h"
#include "text.h"
#include "wire/control.h"

namespace orc::cli {

void add_name_argument(CLI::App& command, const std::string& argument, const std::string& what, std::string& name) {
  const auto check = [what](const std::string& given) {
    const auto checked = wire::check_topic_name(given);
    return checked ? "" : "'" + escaped(given) + "' is not a " + what + " name: " + escaped(checked.error().message());
  };
  command.add_option(argument, name, "Name of the " + what)
      ->required()
      ->type_name("")
      ->check(CLI::Validator(check, "", what + " name"));
}

std::string joined(const std::vector<std::string>& words) {
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
