// orc param set
#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <vector>

#include "tools/orc/common_options.h"
#include "tools/orc/exit_code.h"
#include "tools/orc/param/param.h"
#include "tools/orc/sample/typed_words.h"

namespace orc::cli {

namespace {

struct set_options {
  common_options common;
  std::string name;
  std::vector<std::string> value;
  double timeout_s = 5;
};

// A text is what was typed; anything else is JSON.
result parse_value(const parameter_description& parameter, const std::vector<std::string>& words,
                   parameter_value& value) {
  std::string typed = typed_text(words);
  if (std::holds_alternative<std::string>(parameter.initial)) {
    value = std::move(typed);
    return {};
  }
  if (from_json(typed, value)) return {};
  return {errc::bad_argument, parameter.name + " is " + describe(parameter) + ", not '" + typed.substr(0, 60) + "'"};
}

int run(const set_options& options) {
  console out;
  param_access access(options.common.broker);
  parameter_description parameter;
  if (const auto found = describe_parameter(access.directory, options.name, parameter); !found)
    return report_failure(out, options.name, access.directory, found);
  parameter_value value;
  auto done = parse_value(parameter, options.value, value);
  if (done)
    done = set_parameter(access.participant, access.directory, options.name, timeout_of(options.timeout_s), value);
  if (!done) return report_failure(out, options.name, access.directory, done);
  out.line(options.common.json ? to_text(json_of(parameter_outcome{options.name, done, value})) : value_text(value));
  return out.failed() ? exit_code::failed : exit_code::ok;
}

}  // namespace

void add_param_set(CLI::App& param, int& exit_code) {
  auto options = std::make_shared<set_options>();
  CLI::App* command = param.add_subcommand(
      "set",
      "Sets a parameter, and prints the value that is in force then. VALUE is true or false, a number, a list like "
      "[1, 2.5], or for a parameter that is a text the text itself. The exit code is 1 when the program refuses it.");
  add_param_argument(*command, options->name);
  command->add_option("value", options->value, "The value (words joined by a space)")->required()->type_name("");
  add_param_timeout(*command, options->timeout_s);
  add_common_options(*command, options->common, "One JSON object with the value");
  command->callback([options, &exit_code] { exit_code = run(*options); });
}

}  // namespace orc::cli
