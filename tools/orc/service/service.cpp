#include "tools/orc/service/service.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tools/command_line/nearest_name.h"
#include "tools/orc/broker_directory.h"
#include "tools/orc/commands.h"
#include "tools/orc/exit_code.h"
#include "tools/orc/full_names.h"
#include "tools/orc/text.h"
#include "tools/orc/topic/topic_text.h"

namespace orc::cli {

void add_service(CLI::App& app, int& exit_code) {
  CLI::App* service = app.add_subcommand("service", "Look at services, and call them");
  service->require_subcommand(1);
  add_service_list(*service, exit_code);
  add_service_info(*service, exit_code);
  add_service_call(*service, exit_code);
  add_service_echo(*service, exit_code);
}

void add_service_argument(CLI::App& command, std::string& service) {
  command.add_option("service", service, "Name of the service")
      ->required()
      ->type_name("")
      ->transform(full_name(command, "a service name"));
}

std::string failure_of_service(const std::string& service, directory& from, const result& failure) {
  if (exit_code_of(failure) != exit_code::no_topic) return text_of(failure);
  std::vector<service_description> all;
  std::vector<std::string> names;
  if (find_services(from, {}, all))
    for (const service_description& each : all) names.push_back(each.name);
  return text_of(failure) + did_you_mean(service, names);
}

std::string type_of_messages(const topic_type& type) { return type == topic_type{} ? "bytes" : type_text(type); }

std::string interfaces_text(const service_description& service) {
  if (service.interfaces.empty()) return "-";
  std::string text;
  for (const std::string& each : service.interfaces) text += (text.empty() ? "" : ", ") + escaped(each);
  return text;
}

json_value json_of(const service_description& service) {
  const auto type = [](const topic_type& each) { return each == topic_type{} ? json_value() : json_of(each); };
  return {{"service", service.name},         {"program", service.server.name},   {"pid", service.server.pid},
          {"host", service.server.host},     {"request", type(service.request)}, {"reply", type(service.reply)},
          {"interfaces", service.interfaces}};
}

}  // namespace orc::cli
