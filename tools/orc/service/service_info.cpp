// orc service info
#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "json/json_io.h"
#include "orc.h"
#include "tools/orc/broker_directory.h"
#include "tools/orc/common_options.h"
#include "tools/orc/console.h"
#include "tools/orc/exit_code.h"
#include "tools/orc/service/service.h"
#include "tools/orc/text.h"
#include "tools/orc/topic/topic_text.h"
#include "wire/name_space.h"

namespace orc::cli {

namespace {

// How long the service may take to send its figures.
constexpr int figures_ms = 500;

struct info_options {
  common_options common;
  std::string service;
};

constexpr std::size_t max_figures = std::size_t{64} << 10;  // bytes

// The numbers of a sample. Everything else that a stranger wrote is left out.
json_value numbers_of(std::string_view text) {
  json_value numbers = json_value::object();
  if (text.size() > max_figures) return numbers;
  json_value read;
  const auto problem = detail::read_json(text, read, 1);  // numbers are not deeper
  if ((problem && !problem->is_too_deep) || !read.is_object()) return numbers;
  for (const auto& [name, value] : read.items()) {
    if (value.is_number()) numbers[name] = value;
  }
  return numbers;
}

// The newest sample of the service's own topic; an empty object: none came.
json_value figures_of(const std::string& service, const std::string& broker) {
  participant_options own;
  own.broker = broker;
  own.name = "orc service info";
  own.name_space = wire::no_name_space;
  participant reader(own);
  message sample;
  if (reader.request_topic(service)) sample = reader.recv_msg(service, figures_ms);
  return sample ? numbers_of(as_text(sample.bytes())) : json_value::object();
}

std::string text_document(const service_description& service, const json_value& figures) {
  std::vector<std::vector<std::string>> rows = {{"service", service.name},
                                                {"server", participant_text(service.server)},
                                                {"request", type_of_messages(service.request)},
                                                {"reply", type_of_messages(service.reply)},
                                                {"interfaces", interfaces_text(service)}};
  for (const auto& [name, value] : figures.items()) rows.push_back({escaped(name), detail::write_json(value)});
  return table(rows);
}

int run(const info_options& options) {
  console out;
  const detail::stop_signal stop;
  auto directory = broker_directory(options.common.broker, stop);
  service_description service;
  type_description request;
  type_description reply;
  const auto asked = find_service(directory, options.service, service, request, reply);
  if (!asked && service.name.empty()) {
    out.note(failure_of_service(options.service, directory, asked));
    return exit_code_of(asked);
  }
  const json_value figures = figures_of(options.service, options.common.broker);
  if (options.common.json) {
    json_value document = json_of(service);
    document["figures"] = figures;
    out.line(to_text(document));
  } else {
    out.write(text_document(service, figures));
  }
  return out.failed() ? exit_code::failed : exit_code::ok;
}

}  // namespace

void add_service_info(CLI::App& service, int& exit_code) {
  auto options = std::make_shared<info_options>();
  CLI::App* command =
      service.add_subcommand("info", "One service: its server, types and interfaces, and how many calls it has served");
  add_service_argument(*command, options->service);
  add_common_options(*command, options->common, "The same as one JSON document");
  command->callback([options, &exit_code] { exit_code = run(*options); });
}

}  // namespace orc::cli
