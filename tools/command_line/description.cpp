#include "tools/command_line/description.h"

#include <CLI/CLI.hpp>
#include <cctype>
#include <cstddef>
#include <utility>

#include "tools/command_line/help.h"

namespace orc::cli {

namespace {

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> words;
  std::size_t begin = 0;
  for (std::size_t end = 0; end != std::string::npos; begin = end + 1) {
    end = text.find(separator, begin);
    words.push_back(text.substr(begin, end == std::string::npos ? end : end - begin));
  }
  return words;
}

bool is_lower(const std::string& text) { return !text.empty() && std::islower(static_cast<unsigned char>(text[0])); }

// one_of() names an option's words as "lines|whole".
value_description value_of(const CLI::Option& option) {
  value_description value;
  value.name = value_name(option);
  if (value.name.starts_with("FILE")) {
    value.is = value_description::kind::file;
  } else if (value.name.find('|') != std::string::npos && is_lower(value.name)) {
    value.is = value_description::kind::choice;
    value.choices = split(value.name, '|');
  } else if (option.get_positional() && option.get_name() == "topic") {
    value.is = value_description::kind::topic;
  }
  if (value.name.empty()) value.name = shown_name(option);
  return value;
}

option_description option_of(const CLI::Option& option, const CLI::App& app) {
  option_description described;
  for (const auto& name : option.get_snames()) described.names.push_back("-" + name);
  for (const auto& name : option.get_lnames()) described.names.push_back("--" + name);
  if (const auto* const form = dynamic_cast<const CLI::Formatter*>(app.get_formatter().get()))
    described.remark = form->make_option_opts(&option);
  described.help = option.get_description();
  described.has_value = option.get_expected_max() != 0;  // else it is a flag
  described.repeats = takes_several(option);
  if (described.has_value) described.value = value_of(option);
  return described;
}

command_description describe(const CLI::App& app, const std::string& above, const std::string& footer_above) {
  command_description command;
  command.name = app.get_name();
  command.path = above.empty() ? command.name : above + " " + command.name;
  command.help = app.get_description();
  const std::string footer = app.get_footer();
  if (footer != footer_above) command.footer = footer;
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_group().empty()) continue;
    if (option->nonpositional()) {
      command.options.push_back(option_of(*option, app));
    } else {
      command.arguments.push_back(
          {option->get_description(), option->get_required(), takes_several(*option), value_of(*option)});
    }
  }
  for (const CLI::App* below : app.get_subcommands([](const CLI::App* each) { return !each->get_group().empty(); }))
    command.commands.push_back(describe(*below, command.path, footer));
  return command;
}

void add_all(const command_description& command, std::vector<const command_description*>& all) {
  all.push_back(&command);
  for (const auto& below : command.commands) add_all(below, all);
}

}  // namespace

command_description describe(const CLI::App& app) { return describe(app, "", ""); }

std::vector<const command_description*> with_all_below(const command_description& command) {
  std::vector<const command_description*> all;
  add_all(command, all);
  return all;
}

}  // namespace orc::cli
