#include <cstddef>

#include "tools/command_line/completion.h"

#include "tools/command_line/words.h"

namespace orc::cli {

namespace {

using kind = value_description::kind;

// The first loop finds out at which command the words so far are, and the option whose value comes next. Bash splits
// --option=value into three words.
constexpr const char* script = R"(# Completion of @PROGRAM@ for bash, written by `@PROGRAM@ --generate`.
@FUNCTION@() {
  local cur=${COMP_WORDS[COMP_CWORD]} at=@PROGRAM@ option='' word
  local -i arguments=0
  local -a words=()
  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    if [[ -n $option ]]; then
      [[ $word == = ]] || option=''
      continue
    fi
    case "$at $word" in
@COMMANDS@@OPTIONS WITH VALUE@    *' -'*) ;;
    *) arguments+=1 ;;
    esac
  done
  if [[ -n $option ]]; then
    [[ $cur != = ]] || cur=''
    case "$at $option" in
@VALUES@    esac
  elif [[ $cur == -* ]]; then
    case $at in
@OPTIONS@    esac
  else
    case "$at $arguments" in
@ARGUMENTS@    esac
  fi
  COMPREPLY=()
  for word in "${words[@]}"; do
    [[ $word != "$cur"* ]] || COMPREPLY+=("$word")
  done
}
complete -F @FUNCTION@ @PROGRAM@
)";

// A branch: "    'a' | \\\n    'b') action ;;", or nothing without patterns.
std::string case_of(const std::vector<std::string>& patterns, const std::string& action) {
  if (patterns.empty()) return {};
  return "    " + joined(patterns, " | \\\n    ") + ") " + action + " ;;\n";
}

std::string array(const std::vector<std::string>& words) { return "words=(" + joined(words, " ") + ")"; }

std::string values(const command_description& program) {
  std::string cases;
  std::vector<std::string> files;
  for (const auto* command : with_all_below(program)) {
    for (const auto& option : command->options) {
      std::vector<std::string> patterns;
      for (const auto& name : option.names) patterns.push_back(quoted(command->path + " " + name));
      if (option.value.is == kind::choice) cases += case_of(patterns, array(option.value.choices));
      if (option.value.is == kind::file) files.insert(files.end(), patterns.begin(), patterns.end());
    }
  }
  return cases + case_of(files, "mapfile -t words < <(compgen -f -- \"$cur\") && compopt -o filenames");
}

std::string options(const command_description& program) {
  std::string cases;
  for (const auto* command : with_all_below(program)) {
    std::vector<std::string> names;
    for (const auto& option : command->options) names.insert(names.end(), option.names.begin(), option.names.end());
    cases += case_of({quoted(command->path)}, array(names));
  }
  return cases;
}

std::string arguments(const command_description& program) {
  std::string cases;
  for (const auto* command : with_all_below(program)) {
    std::vector<std::string> names;
    for (const auto& below : command->commands) names.push_back(below.name);
    if (!names.empty()) cases += case_of({quoted(command->path + " 0")}, array(names));
    for (std::size_t i = 0; i < command->arguments.size(); ++i) {
      if (command->arguments[i].value.is != kind::topic) continue;
      cases += case_of({quoted(command->path + " " + std::to_string(i))},
                       "mapfile -t words < <(" + std::string(list_topics) + ")");
    }
  }
  return cases;
}

}  // namespace

std::string bash_completion(const command_description& program) {
  return filled(script, {{"PROGRAM", program.name},
                         {"FUNCTION", function_name(program.path)},
                         {"COMMANDS", case_of(commands_below(program), "at+=\" $word\"")},
                         {"OPTIONS WITH VALUE", case_of(options_with_value(program), "option=$word")},
                         {"VALUES", values(program)},
                         {"OPTIONS", options(program)},
                         {"ARGUMENTS", arguments(program)}});
}

}  // namespace orc::cli
