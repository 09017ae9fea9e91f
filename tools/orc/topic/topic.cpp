#include "tools/orc/topic/topic.h"

#include <CLI/CLI.hpp>

#include "tools/orc/commands.h"

namespace orc::cli {

void add_topic(CLI::App& app, int& exit_code) {
  CLI::App* topic = app.add_subcommand("topic", "Look at topics, listen to them, publish to them");
  topic->require_subcommand(1);
  add_topic_list(*topic, exit_code);
  add_topic_info(*topic, exit_code);
  add_topic_echo(*topic, exit_code);
  add_topic_hz(*topic, exit_code);
  add_topic_pub(*topic, exit_code);
}

}  // namespace orc::cli
