// orc type show
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "orc/schema.h"
#include "tools/orc/broker_directory.h"
#include "tools/orc/common_options.h"
#include "tools/orc/console.h"
#include "tools/orc/exit_code.h"
#include "tools/orc/text.h"
#include "tools/orc/topic/topic_text.h"
#include "tools/orc/type/type.h"

namespace orc::cli {

namespace {

struct show_options {
  common_options common;
  std::string of;
  bool schema = false;
};

topic_type summary(const type_description& type) {
  return {type.name, type.schema_encoding, type.message_encoding, hash_of(type), type.schema.size()};
}

std::string json_document(const type_description& type) {
  json_value json = json_of(summary(type));
  json["text"] = type_text(type);
  return to_text(json) + "\n";
}

std::string text_document(const type_description& type) {
  std::string text = type_text(summary(type)) + "\n";
  if (type.schema.empty()) return text + "no schema: the fields are not known\n";
  text += type_text(type);
  return text.ends_with('\n') ? text : text + "\n";
}

int run(const show_options& options) {
  console out;
  const detail::stop_signal stop;
  auto directory = broker_directory(options.common.broker, stop);
  type_description type;
  if (const int found = find_named_type(out, directory, options.of, type); found != exit_code::ok) return found;
  if (options.schema && isatty(STDOUT_FILENO) == 1 && !is_printable(type.schema)) {
    out.note("the schema is binary: write it to a file (orc type show … --schema > FILE)");
    return exit_code::usage;
  }
  if (options.schema)
    out.write(type.schema);
  else
    out.write(options.common.json ? json_document(type) : text_document(type));
  return out.failed() ? exit_code::failed : exit_code::ok;
}

}  // namespace

void add_type_show(CLI::App& type, int& exit_code) {
  auto options = std::make_shared<show_options>();
  CLI::App* command = type.add_subcommand("show", "The fields of a type, with units and comments");
  add_named_type(*command, "type", options->of,
                 "A topic that is published, or a file of types (see orc topic pub --type)");
  auto* schema = command->add_flag("--schema", options->schema, "Only the bytes of the schema");
  add_common_options(*command, options->common, "One JSON object");
  command->get_option("--json")->excludes(schema);
  command->callback([options, &exit_code] { exit_code = run(*options); });
}

}  // namespace orc::cli
