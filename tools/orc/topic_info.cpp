// orc topic info
#include <memory>

#include "absent_topic.h"
#include "broker_query.h"
#include "common_options.h"
#include "console.h"
#include "exit_code.h"
#include "text.h"
#include "topic.h"
#include "topic_text.h"

namespace orc::cli {

namespace {

struct info_options {
  common_options common;
  std::string topic;
  bool verbose = false;
};

using rows = std::vector<std::vector<std::string>>;

std::string ago_text(std::uint32_t ago_ms) { return " (" + duration_text(std::int64_t{ago_ms} * 1'000'000) + " ago)"; }

void describe(rows& lines, const wire::publication_info& from, bool verbose) {
  lines.push_back({"publisher", participant_text(from.participant_name, from.pid, from.host)});
  if (verbose) {
    lines.push_back({"host", escaped(from.host)});
    lines.push_back({"publication", from.publication.hex()});
  }
  for (const wire::endpoint& endpoint : from.endpoints) {
    lines.push_back({"endpoint", std::string(wire::name_of(endpoint.transport)) + " " + escaped(endpoint.address)});
  }
  lines.push_back({"type", type_text(from)});
  if (verbose && from.type && !from.type->schema.empty()) {
    lines.push_back(
        {"schema", is_printable(from.type->schema) ? escaped(from.type->schema) : "hex " + hex(from.type->schema)});
  }
  lines.push_back({"keeps the last sample", from.keep_last ? "yes" : "no"});
  if (const auto& counters = from.counters) {
    lines.push_back({"sent", std::to_string(counters->sent) + " samples, " + std::to_string(counters->bytes) +
                                 " bytes, " + std::to_string(counters->dropped) + " dropped, " +
                                 std::to_string(counters->readers) + " readers" + ago_text(from.received_ago_ms)});
  } else {
    lines.push_back({"sent", "not told yet"});
  }
}

void describe(rows& lines, const wire::subscription_info& to, bool verbose) {
  lines.push_back({"subscriber", participant_text(to.participant_name, to.pid, to.host)});
  if (verbose) {
    lines.push_back({"  host", escaped(to.host)});
    lines.push_back({"  subscription", to.subscription.hex()});
  }
  const auto& counters = to.counters;
  const std::string reason = counters && !counters->reason.empty() ? " (" + escaped(counters->reason) + ")" : "";
  lines.push_back({"  link", link_text(to) + reason});
  if (to.max_age_ms != 0) {
    const std::string dropped = counters ? " (" + std::to_string(counters->stale) + " dropped)" : "";
    lines.push_back({"  drops", "samples older than " + std::to_string(to.max_age_ms) + " ms" + dropped});
  }
  if (!counters) {
    lines.push_back({"  received", "not told yet"});
    return;
  }
  lines.push_back({"  received", std::to_string(counters->received) + " samples, " + std::to_string(counters->bytes) +
                                     " bytes, " + std::to_string(counters->missed) + " missed, " +
                                     std::to_string(counters->malformed) + " malformed" +
                                     ago_text(to.received_ago_ms)});
  lines.push_back({"  age", counters->age_ns < 0 ? "no sample yet" : duration_text(counters->age_ns)});
}

std::string text_document(const wire::topic_state& state, bool verbose) {
  rows lines = {{"topic", state.topic}};
  if (state.publication) {
    describe(lines, *state.publication, verbose);
  } else {
    lines.push_back({"publisher", "none"});
  }
  lines.push_back({"subscribers", std::to_string(state.subscription_count)});
  for (const wire::subscription_info& each : state.subscriptions) describe(lines, each, verbose);
  return table(lines);
}

int run(const info_options& options) {
  console out;
  const detail::stop_signal stop;
  broker_query broker(options.common.broker, stop);
  const auto answer = broker.describe(options.topic);
  if (const auto* failure = std::get_if<query_failure>(&answer)) {
    out.note(failure->exit_code == exit_code::no_topic ? absence_text(options.topic, broker) : failure->text);
    return failure->exit_code;
  }
  const auto& state = std::get<wire::topic_state>(answer);
  if (options.common.json) {
    out.line(to_text(json_of(state)));
  } else {
    out.write(text_document(state, options.verbose));
  }
  if (out.failed()) return exit_code::failed;
  if (state.publication) return exit_code::ok;
  out.hint(absence_text(options.topic, broker));
  return exit_code::no_topic;
}

}  // namespace

void add_topic_info(CLI::App& topic, int& exit_code) {
  auto options = std::make_shared<info_options>();
  CLI::App* command = topic.add_subcommand(
      "info", "One topic: publisher, endpoints, type, counters, and for each subscriber the link it uses and why");
  add_topic_argument(*command, options->topic);
  command->add_flag("-v,--verbose", options->verbose, "Also identities and the schema");
  add_common_options(*command, options->common, "The same as one JSON document");
  command->callback([options, &exit_code] { exit_code = run(*options); });
}

}  // namespace orc::cli
