// orc type list
#include <CLI/CLI.hpp>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>

#include "tools/orc/broker_directory.h"
#include "tools/orc/common_options.h"
#include "tools/orc/console.h"
#include "tools/orc/exit_code.h"
#include "tools/orc/text.h"
#include "tools/orc/topic/topic_text.h"
#include "tools/orc/type/type.h"

namespace orc::cli {

namespace {

// By name and hash, with the topics that have it: published, or expected by a subscriber.
struct use {
  topic_type type;
  std::set<std::string> topics;
};
using uses = std::map<std::pair<std::string, std::uint64_t>, use>;

void add(uses& all, const topic_type& type, const std::string& topic) {
  auto& one = all[{type.name, type.hash}];
  one.type = type;
  one.topics.insert(topic);
}

uses types_of(const std::vector<topic_state>& topics) {
  uses all;
  for (const topic_state& each : topics) {
    if (each.publication && each.publication->type) add(all, *each.publication->type, each.name);
    for (const subscription_state& subscription : each.subscriptions)
      if (subscription.type) add(all, *subscription.type, each.name);
  }
  return all;
}

std::string topics_text(const std::set<std::string>& topics) {
  std::string text;
  std::size_t shown = 0;
  for (const auto& each : topics) {
    if (shown == 4) return text + ", and " + std::to_string(topics.size() - shown) + " more";
    text += (shown++ == 0 ? "" : ", ") + each;
  }
  return text;
}

std::string text_table(const uses& all) {
  std::vector<std::vector<std::string>> rows = {{"TYPE", "ENCODING", "SCHEMA", "HASH", "TOPICS"}};
  for (const auto& [key, each] : all)
    rows.push_back({each.type.name.empty() ? "unnamed" : escaped(each.type.name), escaped(each.type.message_encoding),
                    std::to_string(each.type.schema_size) + " B", hash_text(each.type.hash), topics_text(each.topics)});
  return table(rows);
}

std::string json_document(const uses& all) {
  json_value list = json_value::array();
  for (const auto& [key, each] : all) {
    json_value one = json_of(each.type);
    one["topics"] = each.topics;
    list.push_back(std::move(one));
  }
  return to_text({{"types", std::move(list)}}) + "\n";
}

int run(const common_options& options) {
  console out;
  const detail::stop_signal stop;
  auto directory = broker_directory(options.broker, stop);
  std::vector<topic_state> topics;
  if (const auto asked = directory.topics("**", topics); !asked) {
    out.note(text_of(asked));
    return exit_code_of(asked);
  }
  const uses all = types_of(topics);
  if (options.json)
    out.write(json_document(all));
  else if (all.empty())
    out.hint("no topic has a type");
  else
    out.write(text_table(all));
  return out.failed() ? exit_code::failed : exit_code::ok;
}

}  // namespace

void add_type_list(CLI::App& type, int& exit_code) {
  auto options = std::make_shared<common_options>();
  CLI::App* command = type.add_subcommand("list", "The types that topics have or that subscribers expect");
  add_common_options(*command, *options, "One JSON document");
  command->callback([options, &exit_code] { exit_code = run(*options); });
}

}  // namespace orc::cli
