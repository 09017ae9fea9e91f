// Options that every `orc topic` command has.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace orc::cli {

struct common_options {
  std::string broker;
  bool json = false;
};

// Adds --broker and --json; `json_help` says what --json prints here.
void add_common_options(CLI::App& command, common_options& options, const char* json_help);

// Adds the required positional TOPIC, checked for being a topic name.
void add_topic_argument(CLI::App& command, std::string& topic);

// A number of seconds, not negative.
CLI::Option* add_seconds(CLI::App& command, const char* name, double& seconds, const char* help);

}  // namespace orc::cli
