#include "tools/orc/common_options.h"

#include <CLI/CLI.hpp>
#include <utility>

#include "tools/orc/full_names.h"
#include "tools/orc/size_and_duration.h"

namespace orc::cli {

void add_broker_option(CLI::App& command, std::string& broker) {
  command
      .add_option("--broker", broker,
                  "Endpoint of the address broker, or several, separated by commas; none: do without, over multicast "
                  "(default: ORC_BROKER, else the user's broker, the system's, tcp://127.0.0.1:5570)")
      ->type_name("ENDPOINT");
}

void add_common_options(CLI::App& command, common_options& options, const char* json_help) {
  add_broker_option(command, options.broker);
  command.add_flag("--json", options.json, json_help);
}

void add_topic_argument(CLI::App& command, std::string& topic) {
  command.add_option("topic", topic, "Name of the topic")
      ->required()
      ->type_name("")
      ->transform(full_name(command, "a topic name"));
}

CLI::Option* add_as(CLI::App& command, std::optional<number_layout>& layout, const char* help) {
  const auto take = [&layout](const std::string& text) {
    auto parsed = number_layout::parse(text);
    if (!parsed) throw CLI::ValidationError("--as", parsed.error().message());
    layout = *std::move(parsed);
  };
  return command.add_option_function<std::string>("--as", take, help)->type_name("LAYOUT");
}

CLI::Option* add_duration(CLI::App& command, const char* name, double& seconds, const char* help) {
  const auto take = [&seconds, name](const std::string& text) {
    const auto parsed = duration_of_text(text, std::chrono::nanoseconds(0));
    if (!parsed) throw CLI::ValidationError(name, parsed.error().message());
    seconds = std::chrono::duration<double>(*parsed).count();
  };
  return command.add_option_function<std::string>(name, take, help)->type_name("TIME");
}

}  // namespace orc::cli
