// A command line as plain data, taken from CLI11: what completion and manual pages are made of.
#pragma once

#include <string>
#include <vector>

#include "tools/command_line/cli_fwd.h"

namespace orc::cli {

// What can stand for a value.
struct value_description {
  enum class kind { anything, choice, file, topic };
  kind is = kind::anything;
  std::string name;                  // "N", "FILE"
  std::vector<std::string> choices;  // if it is a choice
};

struct option_description {
  std::vector<std::string> names;  // "-n", "--count"
  std::string remark;              // what --help has after the names: " N (1-100, default 5)"
  std::string help;
  bool has_value = false;
  bool repeats = false;
  value_description value;
};

struct argument_description {
  std::string help;
  bool required = false;
  bool repeats = false;
  value_description value;
};

struct command_description {
  std::string path;  // "orc topic echo"
  std::string name;  // "echo"
  std::string help;
  std::string footer;  // empty: as the command above it
  std::vector<option_description> options;
  std::vector<argument_description> arguments;
  std::vector<command_description> commands;
};

// Leaves out what --help leaves out: options and commands without a group.
[[nodiscard]] command_description describe(const CLI::App& app);

// The command, then all commands below it, in the order of --help.
[[nodiscard]] std::vector<const command_description*> with_all_below(const command_description& command);

}  // namespace orc::cli
