#include <cstddef>

#include "tools/command_line/completion.h"

#include "tools/command_line/words.h"

namespace orc::cli {

namespace {

using kind = value_description::kind;

constexpr const char* fish_script = R"(# Completion of @PROGRAM@ for fish, written by `@PROGRAM@ --generate`.

# Whether the words so far are at this command, with so many arguments if a number is given.
function _@FUNCTION@_at
    set -l at @PROGRAM@
    set -l arguments 0
    set -l option ''
    set -l words (commandline -opc)
    set -e words[1]
    for word in $words
        if test -n "$option"
            set option ''
            continue
        end
        switch "$at $word"
@COMMANDS@@OPTIONS WITH VALUE@            case '* -*'
            case '*'
                set arguments (math $arguments + 1)
        end
    end
    test "$at" = "$argv[1]"
    and begin
        not set -q argv[2]
        or test $arguments -eq $argv[2]
    end
end

complete -c @PROGRAM@ -f
@COMPLETIONS@)";

std::string fish_case(const std::vector<std::string>& patterns, const std::string& action) {
  if (patterns.empty()) return {};
  return "            case " + joined(patterns, " ") + "\n                " + action + "\n";
}

// At this command: what follows is an option, or what completes an argument.
std::string complete(const command_description& program, const std::string& condition, const std::string& what) {
  return "complete -c " + program.name + " -n " + quoted("_" + function_name(program.path) + "_at " + condition) + " " +
         what + "\n";
}

std::string option_text(const option_description& option) {
  std::string text;
  for (const auto& name : option.names)
    text += name.starts_with("--") ? "-l " + name.substr(2) + " " : "-s " + name.substr(1) + " ";
  if (option.value.is == kind::choice) text += "-a " + quoted(joined(option.value.choices, " ")) + " ";
  if (option.has_value) text += option.value.is == kind::file ? "-r -F " : "-x ";
  return text + "-d " + quoted(option.help);
}

std::string completions(const command_description& program) {
  std::string text;
  for (const auto* command : with_all_below(program)) {
    const std::string here = "\"" + command->path + "\"";
    for (const auto& option : command->options) text += complete(program, here, option_text(option));
    for (const auto& below : command->commands)
      text += complete(program, here + " 0", "-a " + below.name + " -d " + quoted(below.help));
    for (std::size_t i = 0; i < command->arguments.size(); ++i) {
      if (command->arguments[i].value.is != kind::topic) continue;
      text += complete(program, here + " " + std::to_string(i), "-a " + quoted("(" + std::string(list_topics) + ")"));
    }
  }
  return text;
}

}  // namespace

std::string fish_completion(const command_description& program) {
  return filled(fish_script, {{"PROGRAM", program.name},
                              {"FUNCTION", function_name(program.path)},
                              {"COMMANDS", fish_case(commands_below(program), "set at \"$at $word\"")},
                              {"OPTIONS WITH VALUE", fish_case(options_with_value(program), "set option $word")},
                              {"COMPLETIONS", completions(program)}});
}

}  // namespace orc::cli
