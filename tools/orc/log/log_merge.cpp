// orc log merge
#include <CLI/CLI.hpp>
#include <memory>

#include "tools/orc/log/log.h"
#include "tools/orc/log/log_copy.h"

namespace orc::cli {

void add_log_merge(CLI::App& log, int& exit_code) {
  auto options = std::make_shared<log_copy_options>();
  CLI::App* command =
      log.add_subcommand("merge", "Makes one recording of several, such as splits of one run or several robots'");
  command->add_option("files", options->files, "The recordings")->required()->type_name("FILE");
  add_new_recording(*command, options->output);
  add_topic_filter(*command, options->part.topics);
  command->callback([options, &exit_code] { exit_code = log_copy(*options).run(); });
}

}  // namespace orc::cli
