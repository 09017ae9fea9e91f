// orc replay
#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>

#include "tools/orc/argv_quoting.h"
#include "tools/orc/commands.h"
#include "tools/orc/common_options.h"
#include "tools/orc/console.h"
#include "tools/orc/exit_code.h"
#include "tools/orc/replay/replay_session.h"
#include "tools/orc/replay/trace_file.h"
#include "tools/orc/text.h"

namespace orc::cli {

namespace {

int run(replay_options options) {
  console out;
  std::error_code failed;
  options.file = std::filesystem::absolute(options.file, failed).string();  // the program may change its directory
  const auto trace = trace_file::open(options.file);
  if (!trace) {
    out.note(escaped(trace.error().message()));
    return exit_code::failed;
  }
  const trace_file& file = **trace;
  if (options.list) {
    out.write(file.summary());
    return exit_code::ok;
  }
  if (options.program.empty()) {
    out.note("which program? orc replay " + escaped(options.file) + " -- PROGRAM ARGUMENTS; or --list");
    return exit_code::usage;
  }
  for (const std::string& each : file.index().obstacles()) out.note("not reproducible: " + escaped(each));
  if (!file.index().obstacles().empty() && !options.anyway) return exit_code::not_reproducible;
  if (file.index().calls().empty()) {
    out.note("the trace has no calls" + (file.early_end().empty() ? "" : ": " + file.early_end()));
    return exit_code::failed;
  }
  if (const std::string early = file.early_end(); !early.empty())
    out.note(early + "; replaying up to there, " + std::to_string(file.index().calls().size()) + " calls");
  return replay_session(options, file, out).run();
}

}  // namespace

void add_replay(CLI::App& app, int& exit_code) {
  const auto options = std::make_shared<replay_options>();
  const auto pace = std::make_shared<std::string>("fast");
  CLI::App* command = app.add_subcommand(
      "replay",
      "Runs PROGRAM against a trace that it made with ORC_TRACE=FILE, without a broker: each receive returns what it "
      "returned then, and each sent sample is compared. Exit code 0: all are equal; 1: one differs, or the program "
      "made other calls; 6: the trace shows what cannot be reproduced, or threads of the replay wait for each other");
  command->add_option("file", options->file, "The trace")->type_name("FILE")->required();
  command->add_option("program", options->program, "The program and its arguments, after --")->type_name("PROGRAM");
  command->add_option("--pace", *pace, "fast: as fast as the program can; original: each call at its time")
      ->type_name("PACE")
      ->check(CLI::IsMember({"fast", "original"}));
  command->add_flag("--keep-going", options->keep_going, "Count all sends that differ, instead of ending at the first");
  command->add_flag("--list", options->list, "Show what the trace has, and run nothing");
  command->add_flag("--anyway", options->anyway, "Also replay what is not reproducible");
  add_duration(*command, "--patience", options->patience_s,
               "Give up when the program makes no call for this much longer than it took then");
  command->callback([options, pace, &exit_code] {
    for (std::string& word : options->program) word = unquoted(word);
    options->original_pace = *pace == "original";
    exit_code = run(*options);
  });
}

}  // namespace orc::cli
