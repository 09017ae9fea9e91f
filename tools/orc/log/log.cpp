#include "tools/orc/log/log.h"

#include <CLI/CLI.hpp>
#include <vector>

#include "tools/orc/commands.h"

namespace orc::cli {

void add_log(CLI::App& app, int& exit_code) {
  CLI::App* log = app.add_subcommand("log", "Look at recordings, repair, cut, convert and merge them");
  log->require_subcommand(1);
  add_log_info(*log, exit_code);
  add_log_check(*log, exit_code);
  add_log_recover(*log, exit_code);
  add_log_cut(*log, exit_code);
  add_log_merge(*log, exit_code);
  add_log_convert(*log, exit_code);
  add_log_echo(*log, exit_code);
}

CLI::Option* add_recording_argument(CLI::App& command, std::string& path) {
  return command.add_option("file", path, "The recording: an MCAP file or an LCM log")->required()->type_name("FILE");
}

void add_lcm_types(CLI::App& command, std::vector<std::string>& paths) {
  command
      .add_option(
          "--lcm-types", paths,
          "Types of LCM channels: .lcm files or directories of them; a message is recognised by its fingerprint")
      ->type_name("DIR|FILE")
      ->expected(1)
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

}  // namespace orc::cli
