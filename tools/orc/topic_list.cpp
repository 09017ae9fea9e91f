// orc topic list
#include <memory>

#include "broker_query.h"
#include "common_options.h"
#include "console.h"
#include "exit_code.h"
#include "text.h"
#include "topic.h"
#include "topic_text.h"

namespace orc::cli {

namespace {

struct list_options {
  common_options common;
  bool verbose = false;
};

std::string subscribers_text(const wire::topic_state& state) {
  std::string text = std::to_string(state.subscription_count);
  const char* separator = ": ";
  for (const wire::subscription_info& each : state.subscriptions) {
    text += separator + participant_text(each.participant_name, each.pid, each.host) + " " + link_text(each);
    separator = ", ";
  }
  // The broker's answer is limited in size; the count is not.
  if (state.subscription_count > state.subscriptions.size()) text += ", ...";
  return text;
}

std::string verbose_table(const std::vector<wire::topic_state>& topics) {
  std::vector<std::vector<std::string>> rows = {{"TOPIC", "PUBLISHER", "TRANSPORTS", "SUBSCRIBERS"}};
  for (const wire::topic_state& state : topics) {
    const auto& from = state.publication;
    rows.push_back({state.topic, from ? participant_text(from->participant_name, from->pid, from->host) : "-",
                    from ? transports_text(*from) : "-", subscribers_text(state)});
  }
  return table(rows);
}

std::string json_document(const wire::topic_list& list, const std::string& endpoint) {
  json_value topics = json_value::array();
  for (const wire::topic_state& state : list.topics) topics.push_back(json_of(state));
  const json_value broker = {{"endpoint", endpoint},
                             {"uptime_ms", list.uptime_ms},
                             {"participants", list.participants},
                             {"rejected", list.rejected}};
  return to_text({{"broker", broker}, {"topics", std::move(topics)}}) + "\n";
}

int run(const list_options& options) {
  console out;
  const detail::stop_signal stop;
  broker_query broker(options.common.broker, stop);
  const auto answer = broker.list();
  if (const auto* failure = std::get_if<query_failure>(&answer)) {
    out.note(failure->text);
    return failure->exit_code;
  }
  const auto& list = std::get<wire::topic_list>(answer);
  if (options.common.json) {
    out.write(json_document(list, broker.endpoint()));
  } else if (list.topics.empty()) {
    out.hint("no topics at " + broker.endpoint());
  } else if (options.verbose) {
    out.write(verbose_table(list.topics));
  } else {
    std::string names;
    for (const wire::topic_state& state : list.topics) names += state.topic + "\n";
    out.write(names);
  }
  return out.failed() ? exit_code::failed : exit_code::ok;
}

}  // namespace

void add_topic_list(CLI::App& topic, int& exit_code) {
  auto options = std::make_shared<list_options>();
  CLI::App* command = topic.add_subcommand("list", "Names of the topics that are published or asked for, one per line");
  command->add_flag("-v,--verbose", options->verbose,
                    "Also each publisher (program and pid; @host when on another host), its transports, and each "
                    "subscriber with the transport that it uses");
  add_common_options(*command, options->common, "Everything the broker knows, as one JSON document");
  command->callback([options, &exit_code] { exit_code = run(*options); });
}

}  // namespace orc::cli
