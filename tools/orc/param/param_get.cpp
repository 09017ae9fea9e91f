// orc param get
#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "tools/orc/common_options.h"
#include "tools/orc/exit_code.h"
#include "tools/orc/param/param.h"

namespace orc::cli {

namespace {

struct get_options {
  common_options common;
  std::string name;
  double timeout_s = 5;
};

int run(const get_options& options) {
  console out;
  param_access access(options.common.broker);
  parameter_value value;
  const auto got =
      get_parameter(access.participant, access.directory, options.name, timeout_of(options.timeout_s), value);
  if (!got) return report_failure(out, options.name, access.directory, got);
  out.line(options.common.json ? to_text(json_of(parameter_outcome{options.name, got, value})) : value_text(value));
  return out.failed() ? exit_code::failed : exit_code::ok;
}

}  // namespace

void add_param_get(CLI::App& param, int& exit_code) {
  auto options = std::make_shared<get_options>();
  CLI::App* command = param.add_subcommand("get", "The value of a parameter: a text as it is, else as JSON");
  add_param_argument(*command, options->name);
  add_param_timeout(*command, options->timeout_s);
  add_common_options(*command, options->common, "One JSON object with the value");
  command->callback([options, &exit_code] { exit_code = run(*options); });
}

}  // namespace orc::cli
