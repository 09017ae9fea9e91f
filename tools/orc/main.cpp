// The command-line tool `orc`.
#include <CLI/CLI.hpp>
#include <exception>
#include <iostream>

#include "orc/version.h"
#include "tools/command_line/help.h"
#include "tools/command_line/pages.h"
#include "tools/command_line/usage.h"
#include "tools/orc/argv_quoting.h"
#include "tools/orc/commands.h"
#include "tools/orc/exit_code.h"

namespace {

// In the order of `orc --help`.
using add_command = void (*)(CLI::App&, int& exit_code);
constexpr add_command commands[] = {
    orc::cli::add_top,  orc::cli::add_web,    orc::cli::add_topic, orc::cli::add_service, orc::cli::add_param,
    orc::cli::add_type, orc::cli::add_record, orc::cli::add_play,  orc::cli::add_replay,  orc::cli::add_bridge,
    orc::cli::add_log,  orc::cli::add_host,   orc::cli::add_bench, orc::cli::add_doctor};

}  // namespace

int main(int argc, char** argv) {
  CLI::App app(
      "ORC command-line tool: topics, services and parameters of running programs, recordings, replays, benchmarks, "
      "and checks of the machine",
      "orc");
  orc::cli::use_readable_help(app);
  app.set_version_flag("--version", std::string("orc ") + orc::version());
  app.footer(orc::cli::exit_code::help);
  app.require_subcommand(1);
  int exit_code = orc::cli::exit_code::ok;
  try {
    for (const add_command add : commands) add(app, exit_code);
    if (const auto done = orc::cli::generate_pages(app, 1, "orc-broker(8)", argc, argv)) return *done;
    app.parse(orc::cli::quoted_arguments(argc, argv));
  } catch (const CLI::ParseError& error) {
    return orc::cli::report(app, error);
  } catch (const std::exception& error) {
    std::cerr << "orc: " << error.what() << '\n';
    return orc::cli::exit_code::failed;
  }
  return exit_code;
}
