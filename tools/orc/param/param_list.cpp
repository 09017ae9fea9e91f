// orc param list
#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <vector>

#include "tools/orc/broker_directory.h"
#include "tools/orc/common_options.h"
#include "tools/orc/exit_code.h"
#include "tools/orc/param/param.h"
#include "tools/orc/text.h"
#include "tools/orc/topic/topic_text.h"

namespace orc::cli {

namespace {

struct list_options {
  common_options common;
  std::string pattern = "**";
  bool verbose = false;
  double timeout_s = 5;
};

std::string verbose_table(const std::vector<parameter_description>& parameters,
                          const std::vector<parameter_outcome>& values) {
  std::vector<std::vector<std::string>> rows = {{"PARAMETER", "VALUE", "ALLOWED", "PROGRAM", "DESCRIPTION"}};
  for (std::size_t n = 0; n < parameters.size(); ++n) {
    const parameter_description& each = parameters[n];
    rows.push_back({each.name, values[n].outcome ? value_text(values[n].value) : "?", allowed_text(each),
                    participant_text(each.owner), escaped(each.description)});
  }
  return table(rows);
}

std::string json_document(const std::vector<parameter_description>& parameters,
                          const std::vector<parameter_outcome>& values) {
  json_value listed = json_value::array();
  for (std::size_t n = 0; n < parameters.size(); ++n) {
    json_value one = json_of(parameters[n]);
    one.update(json_of(values[n]));
    listed.push_back(std::move(one));
  }
  return to_text({{"parameters", std::move(listed)}});
}

int run(const list_options& options) {
  console out;
  param_access access(options.common.broker);
  std::vector<parameter_description> parameters;
  std::vector<parameter_outcome> values;
  auto asked = list_parameters(access.directory, options.pattern, parameters);
  if (asked && (options.verbose || options.common.json))
    asked = get_parameters(access.participant, access.directory, parameters, timeout_of(options.timeout_s), values);
  if (!asked) {
    out.note(text_of(asked));
    return exit_code_of(asked);
  }
  if (options.common.json) {
    out.line(json_document(parameters, values));
  } else if (parameters.empty()) {
    out.hint("no parameters");
  } else if (options.verbose) {
    out.write(verbose_table(parameters, values));
  } else {
    std::string names;
    for (const parameter_description& each : parameters) names += each.name + "\n";
    out.write(names);
  }
  return out.failed() ? exit_code::failed : exit_code::ok;
}

}  // namespace

void add_param_list(CLI::App& param, int& exit_code) {
  auto options = std::make_shared<list_options>();
  CLI::App* command = param.add_subcommand("list", "Names of the parameters, one per line");
  add_param_pattern(*command, options->pattern);
  command->add_flag("-v,--verbose", options->verbose,
                    "Also each value (? when its program does not answer), the values that are allowed, the program, "
                    "and the description");
  add_param_timeout(*command, options->timeout_s);
  add_common_options(*command, options->common, "The same with -v as one JSON document");
  command->callback([options, &exit_code] { exit_code = run(*options); });
}

}  // namespace orc::cli
