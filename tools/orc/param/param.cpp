#include "tools/orc/param/param.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "tools/command_line/nearest_name.h"
#include "tools/orc/broker_directory.h"
#include "tools/orc/commands.h"
#include "tools/orc/common_options.h"
#include "tools/orc/exit_code.h"
#include "tools/orc/full_names.h"
#include "tools/orc/text.h"
#include "wire/name_space.h"

namespace orc::cli {

void add_param(CLI::App& app, int& exit_code) {
  CLI::App* param = app.add_subcommand("param", "Look at parameters of running programs, set, save and load them");
  param->require_subcommand(1);
  add_param_list(*param, exit_code);
  add_param_get(*param, exit_code);
  add_param_set(*param, exit_code);
  add_param_save(*param, exit_code);
  add_param_load(*param, exit_code);
}

param_access::param_access(const std::string& broker)
    : directory({.broker = broker}),
      participant({.broker = broker, .name = "orc param", .name_space = wire::no_name_space}) {}

void add_param_argument(CLI::App& command, std::string& name) {
  command.add_option("param", name, "Name of the parameter")
      ->required()
      ->type_name("")
      ->transform(full_name(command, "a parameter name"));
}

void add_param_pattern(CLI::App& command, std::string& pattern) {
  command
      .add_option("pattern", pattern,
                  "Only parameters that match: * stands for any characters but /, ** for any (default: all)")
      ->type_name("")
      ->transform(full_pattern(command, "a pattern of names"));
}

void add_param_timeout(CLI::App& command, double& seconds) {
  add_duration(command, "--timeout", seconds, "How long to wait for answers of programs, in all (default 5s)");
}

std::chrono::nanoseconds timeout_of(double seconds) {
  constexpr double day = 86'400;
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
      std::chrono::duration<double>(std::clamp(seconds, 1e-9, day)));
}

int exit_code_of_parameter(const result& outcome) {
  if (outcome) return exit_code::ok;
  return outcome.code() == errc::timed_out ? exit_code::timed_out : exit_code_of(outcome);
}

int report_failure(console& out, const std::string& name, directory& from, const result& failure) {
  std::string text = text_of(failure);
  if (exit_code_of(failure) == exit_code::no_topic) {
    std::vector<topic_state> topics;
    std::vector<std::string> names;
    if (from.topics("**", topics)) {
      for (const topic_state& each : topics) {
        const auto& publication = each.publication;
        if (publication && publication->type && publication->type->name == parameter_type_name)
          names.push_back(each.name);
      }
    }
    text += did_you_mean(name, names);
  }
  out.note(text);
  return exit_code_of_parameter(failure);
}

std::string allowed_text(const parameter_description& parameter) {
  return escaped(describe(parameter)) + (parameter.read_only ? ", read-only" : "");
}

std::string value_text(const parameter_value& value) {
  const auto* const text = std::get_if<std::string>(&value);
  return escaped(text != nullptr ? *text : orc::to_json(value));
}

json_value json_of(const parameter_value& value) {
  return std::visit([](const auto& each) { return json_value(each); }, value);
}

json_value json_of(const parameter_description& parameter) {
  json_value one{{"parameter", parameter.name}, {"default", json_of(parameter.initial)}};
  if (parameter.min) one["min"] = json_of(*parameter.min);
  if (parameter.max) one["max"] = json_of(*parameter.max);
  if (parameter.max_length != 0) one["max_length"] = parameter.max_length;
  for (const parameter_value& each : parameter.choices) one["choices"].push_back(json_of(each));
  if (!parameter.unit.empty()) one["unit"] = parameter.unit;
  if (!parameter.description.empty()) one["description"] = parameter.description;
  one["read_only"] = parameter.read_only;
  one["program"] = parameter.owner.name;
  one["pid"] = parameter.owner.pid;
  one["host"] = parameter.owner.host;
  return one;
}

json_value json_of(const parameter_outcome& outcome) {
  json_value one{{"parameter", outcome.name}};
  if (outcome.outcome)
    one["value"] = json_of(outcome.value);
  else
    one["error"] = outcome.outcome.error().message();
  return one;
}

}  // namespace orc::cli
