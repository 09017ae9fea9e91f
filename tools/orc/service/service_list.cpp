// orc service list
#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tools/orc/broker_directory.h"
#include "tools/orc/common_options.h"
#include "tools/orc/console.h"
#include "tools/orc/exit_code.h"
#include "tools/orc/service/service.h"
#include "tools/orc/text.h"
#include "tools/orc/topic/topic_text.h"

namespace orc::cli {

namespace {

struct list_options {
  common_options common;
  std::string interface;
  bool verbose = false;
  bool all = false;
};

std::string verbose_table(const std::vector<service_description>& services) {
  std::vector<std::vector<std::string>> rows = {{"SERVICE", "SERVER", "REQUEST", "REPLY", "INTERFACES"}};
  for (const service_description& each : services) {
    rows.push_back({each.name, participant_text(each.server), type_of_messages(each.request),
                    type_of_messages(each.reply), interfaces_text(each)});
  }
  return table(rows);
}

int run(const list_options& options) {
  console out;
  const detail::stop_signal stop;
  auto directory = broker_directory(options.common.broker, stop);
  std::vector<service_description> services;
  if (const auto asked = find_services(directory, options.interface, services); !asked) {
    out.note(text_of(asked));
    return exit_code_of(asked);
  }
  if (!options.all) std::erase_if(services, [](const service_description& each) { return is_reserved(each.name); });
  if (options.common.json) {
    json_value listed = json_value::array();
    for (const service_description& each : services) listed.push_back(json_of(each));
    out.line(to_text({{"services", std::move(listed)}}));
  } else if (services.empty()) {
    out.hint(options.interface.empty() ? "no services"
                                       : "no service has the interface '" + escaped(options.interface) + "'");
  } else if (options.verbose) {
    out.write(verbose_table(services));
  } else {
    std::string names;
    for (const service_description& each : services) names += each.name + "\n";
    out.write(names);
  }
  return out.failed() ? exit_code::failed : exit_code::ok;
}

}  // namespace

void add_service_list(CLI::App& service, int& exit_code) {
  auto options = std::make_shared<list_options>();
  CLI::App* command = service.add_subcommand("list", "Names of the services, one per line");
  command->add_option("--interface", options->interface, "Only those that implement this interface")->type_name("NAME");
  command->add_flag("-v,--verbose", options->verbose,
                    "Also each server (program and pid; @host when on another host), the types of requests and "
                    "replies, and the interfaces");
  command->add_flag("-a,--all", options->all, "Also services of ORC itself, which set parameters");
  add_common_options(*command, options->common, "The same as one JSON document");
  command->callback([options, &exit_code] { exit_code = run(*options); });
}

}  // namespace orc::cli
