// `orc topic`: one function per subcommand, each in the file of its name. They add the subcommand to `topic` and set
// `exit_code` when it has run.
#pragma once

#include "tools/command_line/cli_fwd.h"

namespace orc::cli {

void add_topic_list(CLI::App& topic, int& exit_code);
void add_topic_info(CLI::App& topic, int& exit_code);
void add_topic_echo(CLI::App& topic, int& exit_code);
void add_topic_hz(CLI::App& topic, int& exit_code);
void add_topic_pub(CLI::App& topic, int& exit_code);

}  // namespace orc::cli
