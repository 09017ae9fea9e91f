#include "tools/command_line/completion.h"

#include <algorithm>
#include <cctype>

namespace orc::cli {

std::string filled(std::string script, std::initializer_list<gap> gaps) {
  for (const auto& [name, text] : gaps) {
    const std::string mark = "@" + std::string(name) + "@";
    for (auto at = script.find(mark); at != std::string::npos; at = script.find(mark, at + text.size()))
      script.replace(at, mark.size(), text);
  }
  return script;
}

std::string quoted(const std::string& text) {
  std::string in_quotes = "'";
  for (const char c : text) in_quotes += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return in_quotes + "'";
}

std::vector<std::string> commands_below(const command_description& program) {
  std::vector<std::string> paths;
  for (const auto* command : with_all_below(program))
    if (command != &program) paths.push_back(quoted(command->path));
  return paths;
}

std::vector<std::string> options_with_value(const command_description& program) {
  std::vector<std::string> paths;
  for (const auto* command : with_all_below(program)) {
    for (const auto& option : command->options) {
      for (const auto& name : option.names)
        if (option.has_value) paths.push_back(quoted(command->path + " " + name));
    }
  }
  return paths;
}

std::string function_name(const std::string& path) {
  std::string name = "_" + path;
  std::replace_if(
      name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return name;
}

}  // namespace orc::cli
