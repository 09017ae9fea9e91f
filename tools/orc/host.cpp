// orc host: what the broker knows of other hosts.
#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "tools/orc/broker_directory.h"
#include "tools/orc/commands.h"
#include "tools/orc/common_options.h"
#include "tools/orc/console.h"
#include "tools/orc/exit_code.h"
#include "tools/orc/text.h"
#include "tools/support/json.h"

namespace orc::cli {

namespace {

std::string silence_text(const peer_broker_state& peer) {
  return peer.host_name.empty() ? "-" : duration_text(std::chrono::nanoseconds(peer.silent).count());
}

std::string text_document(const federation_state& state) {
  std::vector<std::vector<std::string>> rows = {{"HOST", "STATE", "TOPICS", "LAST WORD", "ENDPOINT", "WHY"}};
  rows.push_back({escaped(state.host_name), "here", std::to_string(state.topics), "-", "-", "-"});
  for (const peer_broker_state& each : state.peers) {
    rows.push_back({each.host_name.empty() ? "-" : escaped(each.host_name), std::string(to_string(each.state)),
                    std::to_string(each.topics), silence_text(each), escaped(each.endpoint),
                    each.reason.empty() ? "-" : escaped(each.reason)});
  }
  return table(rows);
}

json_value json_of(const federation_state& state) {
  json_value peers = json_value::array();
  for (const peer_broker_state& each : state.peers) {
    peers.push_back({{"endpoint", each.endpoint},
                     {"host", each.host_name},
                     {"state", to_string(each.state)},
                     {"topics", each.topics},
                     {"silent_ms", each.silent.count()},
                     {"reason", each.reason}});
  }
  return {{"host", state.host_name}, {"topics", state.topics}, {"peers", std::move(peers)}};
}

int run(const common_options& options) {
  console out;
  const detail::stop_signal stop;
  auto directory = broker_directory(options.broker, stop);
  federation_state state;
  if (const auto asked = directory.federation(state); !asked) {
    out.note(text_of(asked));
    return exit_code_of(asked);
  }
  if (options.json) {
    out.line(to_text(json_of(state)));
  } else {
    out.write(text_document(state));
  }
  return out.failed() ? exit_code::failed : exit_code::ok;
}

}  // namespace

void add_host(CLI::App& app, int& exit_code) {
  CLI::App* host = app.add_subcommand("host", "Look at the hosts whose brokers know each other");
  host->require_subcommand(1);
  auto options = std::make_shared<common_options>();
  CLI::App* list = host->add_subcommand(
      "list",
      "This host and the peers of its broker (orc-broker --peer and --discover): whether each answers, how many topics "
      "it has, and the age of its last word");
  add_common_options(*list, *options, "The same as one JSON document");
  list->callback([options, &exit_code] { exit_code = run(*options); });
}

}  // namespace orc::cli
