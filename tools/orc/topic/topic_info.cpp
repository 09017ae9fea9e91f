// orc topic info
#include <CLI/CLI.hpp>
#include <array>
#include <chrono>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "tools/orc/broker_directory.h"
#include "tools/orc/common_options.h"
#include "tools/orc/console.h"
#include "tools/orc/exit_code.h"
#include "tools/orc/text.h"
#include "tools/orc/topic/absent_topic.h"
#include "tools/orc/topic/topic.h"
#include "tools/orc/topic/topic_text.h"
#include "tools/view/meters.h"

namespace orc::cli {

namespace {

struct topic_info_options {
  common_options common;
  std::string topic;
  bool verbose = false;
};

using rows = std::vector<std::vector<std::string>>;

std::string ago_text(std::chrono::nanoseconds age) { return " (" + duration_text(age.count()) + " ago)"; }

void describe(rows& lines, const publication_state& from, bool verbose) {
  lines.push_back({"publisher", publisher_text(from)});
  if (!from.host_name.empty())
    lines.push_back({"on host", escaped(from.host_name) + (from.stale ? ", whose broker does not answer" : "")});
  if (verbose) {
    lines.push_back({"host", escaped(from.participant.host)});
    lines.push_back({"publication", from.id});
  }
  for (const endpoint& each : from.endpoints) {
    lines.push_back({"endpoint", std::string(to_string(each.transport)) + " " + escaped(each.address)});
  }
  lines.push_back({"type", from.type ? type_text(*from.type) : "untyped"});
  lines.push_back({"keeps the last sample", from.keep_last ? "yes" : "no"});
  if (const auto& counters = from.counters) {
    lines.push_back({"sent", std::to_string(counters->sent) + " samples, " + std::to_string(counters->bytes) +
                                 " bytes, " + std::to_string(counters->dropped) + " dropped, " +
                                 std::to_string(counters->readers) + " readers" + ago_text(counters->age)});
    if (const auto age = view::age_of_newest(*counters))
      lines.push_back({"newest sample", duration_text(age->count()) + " old"});
    if (counters->jitter_ns) lines.push_back({"jitter", duration_text(*counters->jitter_ns)});
  } else {
    lines.push_back({"sent", from.host_name.empty() ? "not told yet" : "known on its host only"});
  }
}

std::string prediction_text(const prediction_info& of) {
  const std::uint64_t predicted = of.hits + of.early + of.misses;
  if (of.period_ns <= 0 || predicted == 0) return "no period found yet";
  const auto percent = [](double share) {
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%.1f %%", 100 * share);
    return std::string(text.data());
  };
  const auto of_all = static_cast<double>(predicted);
  return "a sample every " + duration_text(of.period_ns) + "; " + percent(static_cast<double>(of.hits) / of_all) +
         " of " + std::to_string(predicted) + " came while it watched, which took " +
         percent(static_cast<double>(of.watched_ns) / (of_all * static_cast<double>(of.period_ns))) + " of a core";
}

void describe(rows& lines, const subscription_state& to, bool verbose) {
  lines.push_back({"subscriber", participant_text(to.participant)});
  if (verbose) {
    lines.push_back({"  host", escaped(to.participant.host)});
    lines.push_back({"  subscription", to.id});
  }
  const auto& counters = to.counters;
  const std::string reason = counters && !counters->reason.empty() ? " (" + escaped(counters->reason) + ")" : "";
  lines.push_back({"  link", link_text(to) + reason});
  lines.push_back({"  expects", to.type ? type_text(*to.type) : "any type"});
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
                                     std::to_string(counters->malformed) + " malformed" + ago_text(counters->age)});
  lines.push_back({"  latency", counters->sample_age_ns ? duration_text(*counters->sample_age_ns) : "no sample yet"});
  if (counters->prediction) lines.push_back({"  predicts", prediction_text(*counters->prediction)});
}

std::string text_document(const topic_state& state, bool verbose) {
  rows lines = {{"topic", state.name}};
  if (state.publication) {
    if (state.shared) lines.push_back({"shared", "by " + std::to_string(1 + state.others.size()) + " publishers"});
    describe(lines, *state.publication, verbose);
    for (const publication_state& each : state.others) describe(lines, each, verbose);
  } else {
    lines.push_back({"publisher", "none"});
  }
  lines.push_back({"subscribers", std::to_string(state.subscription_count)});
  for (const subscription_state& each : state.subscriptions) describe(lines, each, verbose);
  return table(lines);
}

int run(const topic_info_options& options) {
  console out;
  const detail::stop_signal stop;
  auto directory = broker_directory(options.common.broker, stop);
  topic_state state;
  if (const auto asked = directory.describe(options.topic, state); !asked) {
    out.note(failure_text(options.topic, directory, asked));
    return exit_code_of(asked);
  }
  if (options.common.json) {
    out.line(to_text(json_of(state)));
  } else {
    out.write(text_document(state, options.verbose));
  }
  if (out.failed()) return exit_code::failed;
  if (state.publication) return exit_code::ok;
  out.hint(absence_text(options.topic, directory));
  return exit_code::no_topic;
}

}  // namespace

void add_topic_info(CLI::App& topic, int& exit_code) {
  auto options = std::make_shared<topic_info_options>();
  CLI::App* command = topic.add_subcommand("info",
                                           "One topic: publisher (of a shared topic all of them), endpoints, type, "
                                           "counters, and for each subscriber the link it uses and why");
  add_topic_argument(*command, options->topic);
  command->add_flag("-v,--verbose", options->verbose, "Also identities");
  add_common_options(*command, options->common, "The same as one JSON document");
  command->callback([options, &exit_code] { exit_code = run(*options); });
}

}  // namespace orc::cli
