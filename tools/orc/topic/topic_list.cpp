// orc topic list
#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "tools/orc/broker_directory.h"
#include "tools/orc/common_options.h"
#include "tools/orc/console.h"
#include "tools/orc/exit_code.h"
#include "tools/orc/text.h"
#include "tools/orc/topic/topic.h"
#include "tools/orc/topic/topic_text.h"

namespace orc::cli {

namespace {

struct topic_list_options {
  common_options common;
  bool verbose = false;
  bool all = false;
};

std::string subscribers_text(const topic_state& state) {
  std::string text = std::to_string(state.subscription_count);
  const char* separator = ": ";
  for (const subscription_state& each : state.subscriptions) {
    text += separator + participant_text(each.participant) + " " + link_text(each);
    separator = ", ";
  }
  // The broker's answer is limited in size; the count is not.
  if (state.subscription_count > state.subscriptions.size()) text += ", ...";
  return text;
}

// Of a shared topic all of them.
std::string publishers_text(const topic_state& state) {
  if (!state.publication) return "-";
  std::string text = publisher_text(*state.publication);
  for (const publication_state& each : state.others) text += ", " + publisher_text(each);
  return text;
}

std::string verbose_table(const std::vector<topic_state>& topics) {
  std::vector<std::vector<std::string>> rows = {{"TOPIC", "PUBLISHER", "TRANSPORTS", "SUBSCRIBERS"}};
  for (const topic_state& state : topics) {
    const auto& from = state.publication;
    rows.push_back({state.name, publishers_text(state), from ? transports_text(*from) : "-", subscribers_text(state)});
  }
  return table(rows);
}

std::string json_document(const broker_state& broker, const std::vector<topic_state>& topics) {
  json_value listed = json_value::array();
  for (const topic_state& state : topics) listed.push_back(json_of(state));
  const json_value from = {{"endpoint", broker.endpoint},
                           {"uptime_ms", broker.uptime.count()},
                           {"participants", broker.participants},
                           {"rejected", broker.rejected}};
  return to_text({{"broker", from}, {"topics", std::move(listed)}}) + "\n";
}

int run(const topic_list_options& options) {
  console out;
  const detail::stop_signal stop;
  auto directory = broker_directory(options.common.broker, stop);
  std::vector<topic_state> topics;
  broker_state broker;
  auto asked = directory.topics("**", topics);
  if (asked) asked = directory.broker(broker);
  if (!asked) {
    out.note(text_of(asked));
    return exit_code_of(asked);
  }
  if (!options.all) std::erase_if(topics, [](const topic_state& each) { return is_reserved(each.name); });
  if (options.common.json) {
    out.write(json_document(broker, topics));
  } else if (topics.empty()) {
    out.hint("no topics at " + broker.endpoint);
  } else if (options.verbose) {
    out.write(verbose_table(topics));
  } else {
    std::string names;
    for (const topic_state& state : topics) names += state.name + "\n";
    out.write(names);
  }
  return out.failed() ? exit_code::failed : exit_code::ok;
}

}  // namespace

void add_topic_list(CLI::App& topic, int& exit_code) {
  auto options = std::make_shared<topic_list_options>();
  CLI::App* command = topic.add_subcommand("list", "Names of the topics that are published or asked for, one per line");
  command->add_flag(
      "-v,--verbose", options->verbose,
      "Also each publisher (program and pid; @host when on another host), all of them for a shared topic, its "
      "transports, and each subscriber with the transport that it uses");
  command->add_flag("-a,--all", options->all, "Also topics of ORC itself, which carry calls and set parameters");
  add_common_options(*command, options->common, "Everything the broker knows, as one JSON document");
  command->callback([options, &exit_code] { exit_code = run(*options); });
}

}  // namespace orc::cli
