// orc log check
#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "orc/recording/reader.h"
#include "tools/orc/console.h"
#include "tools/orc/exit_code.h"
#include "tools/orc/log/log.h"
#include "tools/orc/text.h"

namespace orc::cli {

namespace {

int check(const std::string& file) {
  console out;
  std::unique_ptr<recording::reader> reader;
  if (const result opened = recording::reader::open(file, reader); !opened) {
    out.note(escaped(opened.error().message()));
    return exit_code::failed;
  }
  std::vector<std::string> problems;
  if (const result checked = reader->check(problems); !checked) problems.push_back(checked.error().message());
  for (const std::string& each : problems)
    if (!out.line(escaped(each))) break;
  if (!problems.empty())
    out.note("orc log recover " + escaped(file) + " -o NEW copies what can be read to a whole file");
  if (!problems.empty() || out.failed()) return exit_code::failed;
  const recording::summary& about = reader->summary();
  out.line(escaped(file) + ": no problem in " + std::to_string(about.samples) + " samples, " +
           std::to_string(about.bytes) + " bytes");
  return out.failed() ? exit_code::failed : exit_code::ok;
}

}  // namespace

void add_log_check(CLI::App& log, int& exit_code) {
  auto file = std::make_shared<std::string>();
  CLI::App* command = log.add_subcommand(
      "check",
      "Reads all of a recording and checks checksums, lengths, order and index. Prints each problem with its place; "
      "the exit code is 1 if there is one");
  add_recording_argument(*command, *file);
  command->callback([file, &exit_code] { exit_code = check(*file); });
}

}  // namespace orc::cli
