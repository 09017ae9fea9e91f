// orc log convert
#include <CLI/CLI.hpp>
#include <memory>

#include "tools/command_line/help.h"
#include "tools/orc/exit_code.h"
#include "tools/orc/log/log.h"
#include "tools/orc/log/log_copy.h"
#include "tools/orc/log/log_csv.h"

namespace orc::cli {

namespace {

struct convert_options {
  log_copy_options copy;
  log_csv_options csv;
};

int convert(convert_options& options) {
  const auto format = format_of(options.copy.output);
  if (!format) {
    throw CLI::ValidationError("--to",
                               "'" + options.copy.output.path +
                                   "' does not end with .mcap, .lcm, .lcmlog, .log or .csv: say the format with "
                                   "--to");
  }
  if (*format != log_format::csv) {
    if (!options.csv.fields.empty()) throw CLI::ValidationError("--fields", "chooses columns of a table: --to csv");
    if (!options.csv.type.empty()) throw CLI::ValidationError("--type", "is for a table: --to csv");
    options.copy.skip_broken = true;
    return log_copy(options.copy).run();
  }
  options.csv.file = options.copy.files.front();
  options.csv.output = options.copy.output.path;
  options.csv.force = options.copy.output.force;
  options.csv.part = options.copy.part;
  options.csv.lcm_types = options.copy.lcm_types;
  return log_csv(options.csv).run();
}

}  // namespace

void add_log_convert(CLI::App& log, int& exit_code) {
  auto options = std::make_shared<convert_options>();
  log_copy_options& copy = options->copy;
  CLI::App* command = log.add_subcommand(
      "convert",
      "Converts between MCAP and LCM logs, or makes a table (CSV) of one topic with a column for each number and text");
  copy.files.emplace_back();
  add_recording_argument(*command, copy.files.front());
  add_new_recording(*command, copy.output);
  one_of(command->add_option("--to", copy.output.to,
                             "The new format (default: by the extension; .lcm, .lcmlog and .log are LCM)"),
         {"mcap", "lcm", "csv"});
  command
      ->add_option("--fields", options->csv.fields,
                   "Columns of the table: fields such as q[3] or pose.position, separated by commas (default: all)")
      ->type_name("PATH")
      ->delimiter(',')
      ->expected(1)
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  add_recording_part(*command, copy.part);
  command->add_option("--type", options->csv.type, "The type of the samples of a table (default: the recorded one)")
      ->type_name("FILE:NAME");
  add_lcm_types(*command, copy.lcm_types);
  command->callback([options, &exit_code] { exit_code = convert(*options); });
}

}  // namespace orc::cli
