#include "tools/orc/full_names.h"

#include <CLI/CLI.hpp>
#include <functional>
#include <utility>

#include "base/process/environment.h"
#include "tools/orc/text.h"
#include "wire/name_pattern.h"
#include "wire/name_space.h"

namespace orc::cli {

namespace {

constexpr const char* option_name = "--namespace";

// Empty: `text` is full now. Else what is wrong with the namespace.
[[nodiscard]] std::string make_full(const CLI::App& command, std::string& text) {
  const auto& given = command.get_option(option_name)->results();
  const auto names = wire::name_space::parse(given.empty() ? detail::environment("ORC_NAMESPACE") : given.back());
  if (!names) return (given.empty() ? "ORC_NAMESPACE: " : "--namespace: ") + escaped(names.error().message());
  text = names->resolve(text);
  return {};
}

void add_option(CLI::App& command) {
  if (command.get_option_no_throw(option_name) != nullptr) return;
  command
      .add_option(option_name,
                  "Namespace that stands before the names that are given here, but not before those that begin with a "
                  "slash; / is none (default: ORC_NAMESPACE)")
      ->type_name("NAMESPACE");
}

// `command` has the option that it makes the validator for, and lives as long.
[[nodiscard]] CLI::Validator validator(CLI::App& command, std::string kind, result (*check)(std::string_view)) {
  add_option(command);
  return {[&command, kind = std::move(kind), check](std::string& text) {
            const std::string typed = text;
            if (std::string wrong = make_full(command, text); !wrong.empty()) return wrong;
            const auto checked = check(text);
            return checked ? "" : "'" + escaped(typed) + "' is not " + kind + ": " + escaped(checked.error().message());
          },
          ""};
}

}  // namespace

CLI::Validator full_name(CLI::App& command, std::string kind) {
  return validator(command, std::move(kind), wire::check_topic_name);
}

CLI::Validator full_pattern(CLI::App& command, std::string kind) {
  return validator(command, std::move(kind), wire::check_name_pattern);
}

CLI::Validator full_name_if(CLI::App& command, bool (*is_name)(const std::string& text)) {
  add_option(command);
  return {[&command, is_name](std::string& text) { return is_name(text) ? make_full(command, text) : std::string(); },
          ""};
}

}  // namespace orc::cli
