#include "tools/command_line/completion.h"

#include "tools/command_line/words.h"

namespace orc::cli {

namespace {

using kind = value_description::kind;

constexpr const char* zsh_script = R"(#compdef @PROGRAM@
# Completion of @PROGRAM@ for zsh, written by `@PROGRAM@ --generate`.

@FUNCTIONS@@FUNCTION@ "$@"
)";

constexpr const char* command_function = R"(@FUNCTION@() {
  _arguments -S@SPECS@
}

)";

// Within the rest of the line, words[1] is the name of the command.
constexpr const char* group_function = R"(@FUNCTION@() {
  local curcontext=$curcontext state
  local -a commands=(@COMMANDS@
  )
  _arguments -C -S@SPECS@ \
    '1:command:->command' \
    '*::argument:->rest' && return
  case $state in
  command) _describe -t commands command commands ;;
  rest) (( ! $+functions[@FUNCTION@_$words[1]] )) || @FUNCTION@_$words[1] ;;
  esac
}

)";

// A text between brackets or colons.
std::string zsh_escaped(const std::string& text) {
  std::string safe;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') safe += '\\';
    safe += c;
  }
  return safe;
}

// ":message:what completes it"
std::string value_spec(const value_description& value) {
  std::string action = " ";
  if (value.is == kind::choice) action = "(" + joined(value.choices, " ") + ")";
  if (value.is == kind::file) action = "_files";
  if (value.is == kind::topic) action = "{compadd -- ${(f)\"$(" + std::string(list_topics) + ")\"}}";
  return ":" + zsh_escaped(value.name) + ":" + action;
}

// '(-n --count)'{-n+,--count=}'[help]:N: '
std::string option_spec(const option_description& option) {
  std::vector<std::string> names;
  for (const auto& name : option.names) {
    const bool is_long = name.starts_with("--");
    names.push_back(name + (option.has_value ? (is_long ? "=" : "+") : ""));
  }
  std::string spec = option.repeats ? "'*'" : quoted("(" + joined(option.names, " ") + ")");
  spec += names.size() > 1 ? "{" + joined(names, ",") + "}" : names.front();
  return spec + quoted("[" + zsh_escaped(option.help) + "]" + (option.has_value ? value_spec(option.value) : ""));
}

std::string specs(const command_description& command) {
  std::string text;
  for (const auto& option : command.options) text += " \\\n    " + option_spec(option);
  for (const auto& argument : command.arguments)
    text += " \\\n    " + quoted((argument.repeats ? "*" : "") + value_spec(argument.value));
  return text;
}

std::string function(const command_description& command) {
  std::string commands;
  for (const auto& below : command.commands) commands += "\n    " + quoted(below.name + ":" + zsh_escaped(below.help));
  return filled(command.commands.empty() ? command_function : group_function,
                {{"FUNCTION", function_name(command.path)}, {"SPECS", specs(command)}, {"COMMANDS", commands}});
}

}  // namespace

std::string zsh_completion(const command_description& program) {
  std::string functions;
  for (const auto* command : with_all_below(program)) functions += function(*command);
  return filled(zsh_script,
                {{"PROGRAM", program.name}, {"FUNCTIONS", functions}, {"FUNCTION", function_name(program.path)}});
}

}  // namespace orc::cli
