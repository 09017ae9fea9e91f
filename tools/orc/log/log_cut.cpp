// orc log cut
#include <CLI/CLI.hpp>
#include <memory>

#include "tools/orc/log/log.h"
#include "tools/orc/log/log_copy.h"

namespace orc::cli {

void add_log_cut(CLI::App& log, int& exit_code) {
  auto options = std::make_shared<log_copy_options>();
  CLI::App* command = log.add_subcommand(
      "cut",
      "Copies a part of a recording. It begins with the last sample of each topic before the start, so that it stands "
      "alone");
  options->files.emplace_back();
  add_recording_argument(*command, options->files.front());
  add_new_recording(*command, options->output);
  add_recording_part(*command, options->part);
  command->callback([options, &exit_code] { exit_code = log_copy(*options).run(); });
}

}  // namespace orc::cli
