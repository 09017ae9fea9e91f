// Options that every `orc topic` command has.
#pragma once

#include <optional>
#include <string>

#include "tools/command_line/cli_fwd.h"
#include "tools/orc/sample/number_layout.h"

namespace orc::cli {

struct common_options {
  std::string broker;
  bool json = false;
};

// Adds --broker.
void add_broker_option(CLI::App& command, std::string& broker);

// Adds --broker and --json; `json_help` says what --json prints here.
void add_common_options(CLI::App& command, common_options& options, const char* json_help);

// Adds the required positional TOPIC, checked for being a topic name, and then a full name; and --namespace.
void add_topic_argument(CLI::App& command, std::string& topic);

// Adds --as LAYOUT: `layout` is what the option says, once the command line is read.
CLI::Option* add_as(CLI::App& command, std::optional<number_layout>& layout, const char* help);

// A duration, in seconds; 0 is one.
CLI::Option* add_duration(CLI::App& command, const char* name, double& seconds, const char* help);

}  // namespace orc::cli
