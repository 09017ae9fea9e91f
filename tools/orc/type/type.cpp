#include "tools/orc/type/type.h"

#include <CLI/CLI.hpp>

#include "tools/orc/broker_directory.h"
#include "tools/orc/commands.h"
#include "tools/orc/exit_code.h"
#include "tools/orc/full_names.h"
#include "tools/orc/topic/absent_topic.h"
#include "tools/orc/type/topic_types.h"
#include "tools/orc/type/type_file.h"

namespace orc::cli {

void add_type(CLI::App& app, int& exit_code) {
  CLI::App* type = app.add_subcommand("type", "Look at the types of topics and of files, and compare them");
  type->require_subcommand(1);
  add_type_list(*type, exit_code);
  add_type_show(*type, exit_code);
  add_type_diff(*type, exit_code);
  add_type_hash(*type, exit_code);
}

namespace {

result look_up(directory& from, const std::string& words, type_description& found) {
  if (!names_file(words)) {
    if (words.find(':') == std::string::npos) return type_of_topic(from, words, found);
    return {errc::bad_argument, "no file '" + words.substr(0, words.rfind(':')) + "'"};
  }
  auto read = type_from_file(words);
  if (!read) return read.error();
  found = *std::move(read);
  return {};
}

[[nodiscard]] bool names_topic(const std::string& words) {
  return !names_file(words) && words.find(':') == std::string::npos;
}

}  // namespace

void add_named_type(CLI::App& command, const char* name, std::string& words, const char* help) {
  command.add_option(name, words, help)
      ->type_name("TOPIC|FILE[:NAME]")
      ->required()
      ->transform(full_name_if(command, names_topic));
}

int find_named_type(console& out, directory& from, const std::string& words, type_description& found) {
  const result asked = look_up(from, words, found);
  if (asked) return exit_code::ok;
  out.note(failure_text(words, from, asked));
  return asked.code() == errc::bad_argument ? exit_code::usage : exit_code_of(asked);
}

}  // namespace orc::cli
