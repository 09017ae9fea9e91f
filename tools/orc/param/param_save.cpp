// orc param save
#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstring>
#include <memory>
#include <vector>

#include "tools/orc/broker_directory.h"
#include "tools/orc/common_options.h"
#include "tools/orc/exit_code.h"
#include "tools/orc/param/param.h"
#include "tools/orc/text.h"
#include "tools/parameter_files/parameter_files.h"

namespace orc::cli {

namespace {

struct save_options {
  std::string broker;
  std::string file;
  std::string pattern = "**";
  double timeout_s = 5;
};

int run(const save_options& options) {
  console out;
  param_access access(options.broker);
  std::string toml;
  std::vector<parameter_outcome> outcomes;
  if (const auto saved = save_parameters(access.participant, access.directory, options.pattern,
                                         timeout_of(options.timeout_s), toml, outcomes);
      !saved) {
    out.note(text_of(saved));
    return exit_code_of(saved);
  }
  int code = exit_code::ok;
  for (const parameter_outcome& each : outcomes) {
    if (each.outcome) continue;
    out.note(text_of(each.outcome));
    code = exit_code::failed;
  }
  if (options.file == "-") {
    out.write(toml);
    return out.failed() ? exit_code::failed : code;
  }
  if (!write_text(options.file, toml)) {
    out.note("cannot write " + escaped(options.file) + ": " + std::strerror(errno));
    return exit_code::failed;
  }
  return code;
}

}  // namespace

void add_param_save(CLI::App& param, int& exit_code) {
  auto options = std::make_shared<save_options>();
  CLI::App* command = param.add_subcommand(
      "save",
      "Writes the values of parameters to a TOML file, without those that are read-only. When a program does not "
      "answer, the file has the others, and the exit code is 1.");
  command->add_option("file", options->file, "File to write; - is stdout")->required()->type_name("");
  add_param_pattern(*command, options->pattern);
  add_param_timeout(*command, options->timeout_s);
  add_broker_option(*command, options->broker);
  command->callback([options, &exit_code] { exit_code = run(*options); });
}

}  // namespace orc::cli
