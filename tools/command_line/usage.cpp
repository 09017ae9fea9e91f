#include "tools/command_line/usage.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include "tools/command_line/help.h"
#include "tools/command_line/nearest_name.h"
#include "tools/command_line/words.h"

namespace orc::cli {

namespace {

// An application or one of its subcommands, and the name that it is called by.
struct command {
  const CLI::App* app;
  std::string name;
};

// The outermost command that was given a word that it does not know, else the innermost one.
command place_of_error(const CLI::App& app) {
  command at{&app, app.get_name()};
  while (at.app->remaining(false).empty()) {
    const auto called = at.app->get_subcommands();
    if (called.empty()) break;
    at = {called.back(), at.name + " " + called.back()->get_name()};
  }
  return at;
}

// Without the hidden ones, which have no group.
std::vector<std::string> commands_of(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* each : app.get_subcommands([](const CLI::App*) { return true; }))
    if (!each->get_group().empty()) names.push_back(each->get_name());
  return names;
}

// "orc topic echo" for echo after orc; empty when no command has such a command.
std::string command_below(const command& at, const std::string& typed) {
  for (const std::string& each : commands_of(*at.app)) {
    const auto below = commands_of(*at.app->get_subcommand(each));
    if (std::find(below.begin(), below.end(), typed) != below.end()) return at.name + " " + each + " " + typed;
  }
  return {};
}

std::string_view without_dashes(std::string_view option) {
  return option.substr(std::min(option.find_first_not_of('-'), option.size()));
}

bool is_option(std::string_view word) { return word.starts_with('-') && !without_dashes(word).empty(); }

std::string unknown_option(const command& at, const std::string& typed) {
  std::vector<std::string> names;
  for (const CLI::Option* each : at.app->get_options()) {
    if (each->get_group().empty()) continue;
    for (const auto& name : each->get_lnames()) names.push_back(name);
    for (const auto& name : each->get_snames()) names.push_back(name);
  }
  const std::string option = typed.substr(0, typed.find('='));
  std::string text = "unknown option " + option;
  const std::string nearest = nearest_name(without_dashes(option), names);
  if (nearest.empty()) return text;
  return text + ": did you mean " + (nearest.size() == 1 ? "-" : "--") + nearest + "?";
}

std::string unknown_word(const command& at, const std::string& typed) {
  if (is_option(typed)) return unknown_option(at, typed);
  const auto known = commands_of(*at.app);
  const bool wants_command = !known.empty() && at.app->get_subcommands().empty();
  if (wants_command) {
    const std::string below = command_below(at, typed);
    return "unknown command " + typed + (below.empty() ? did_you_mean(typed, known) : ": did you mean " + below + "?");
  }
  return "unexpected argument '" + typed + "'";
}

// CLI11's own sentences name C++ types, and arguments by their small letters.
std::string in_plain_words(const command& at, const CLI::ParseError& error) {
  const std::string text = error.what();
  const auto shown = [&](const std::string& name) {
    const CLI::Option* const option = at.app->get_option_no_throw(name);
    return option == nullptr ? name : shown_name(*option);
  };
  const auto before = [&](std::string_view end) { return text.substr(0, std::min(text.find(end), text.size())); };
  if (dynamic_cast<const CLI::RequiredError*>(&error) != nullptr) return shown(before(" ")) + " is missing";
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr)
    return before(":") + (text.ends_with(" missing") ? " needs a value" : " was given more than once");
  if (dynamic_cast<const CLI::ExcludesError*>(&error) != nullptr)
    return shown(before(" ")) + " does not go with " + shown(text.substr(text.rfind(' ') + 1));
  const bool in_file = dynamic_cast<const CLI::ConfigError*>(&error) != nullptr;
  return (in_file ? "the configuration file: " : "") + text;
}

std::string problem(const command& at, const CLI::ParseError& error) {
  const bool is_incomplete = dynamic_cast<const CLI::RequiredError*>(&error) != nullptr;
  // CLI11 says that a command or an argument is missing before it looks at the words that it does not know.
  if (is_incomplete || dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) {
    if (const auto unknown = at.app->remaining(false); !unknown.empty()) return unknown_word(at, unknown.front());
  }
  const auto known = commands_of(*at.app);
  if (is_incomplete && !known.empty()) return "a command is missing: " + joined(known, ", ");
  return in_plain_words(at, error);
}

}  // namespace

int report(const CLI::App& app, const CLI::ParseError& error) {
  if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::Success)) return app.exit(error);
  const command at = place_of_error(app);
  const std::string text = problem(at, error);
  std::cerr << app.get_name() << ": " << text << (text.ends_with('?') ? " See " : "; see ") << at.name << " --help\n";
  return wrong_usage;
}

}  // namespace orc::cli
