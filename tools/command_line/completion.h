// Scripts that complete a program's command line in a shell: commands, options, their values, files, and the names of
// topics, for which they ask the running broker through `orc topic list`.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "tools/command_line/description.h"

namespace orc::cli {

[[nodiscard]] std::string bash_completion(const command_description& program);
[[nodiscard]] std::string zsh_completion(const command_description& program);
[[nodiscard]] std::string fish_completion(const command_description& program);

// The command that prints the names of topics, one per line, and nothing without a broker. A key that is pressed does
// not wait for long.
inline constexpr const char* list_topics = "timeout 2 orc topic list 2>/dev/null";

// A script with its gaps filled: each @NAME@ becomes the text beside the name.
struct gap {
  std::string_view name;
  std::string text;
};
[[nodiscard]] std::string filled(std::string script, std::initializer_list<gap> gaps);

// A word or text in single quotes, as each of these shells reads it back.
[[nodiscard]] std::string quoted(const std::string& text);

// 'orc topic', …: all commands below the program, quoted.
[[nodiscard]] std::vector<std::string> commands_below(const command_description& program);
// 'orc topic list --broker', …: each option that takes a value, after its command, quoted.
[[nodiscard]] std::vector<std::string> options_with_value(const command_description& program);

// "_orc_broker_topic": the name of a shell's function, from a command's path.
[[nodiscard]] std::string function_name(const std::string& path);

}  // namespace orc::cli
