#include "tools/orc/recording/topic_filter.h"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "tools/orc/text.h"
#include "wire/name_pattern.h"

namespace orc::cli {

namespace {

bool matches_any(const std::vector<std::string>& patterns, std::string_view topic) noexcept {
  return std::any_of(patterns.begin(), patterns.end(),
                     [&](const std::string& each) { return wire::matches(each, topic); });
}

void add_patterns(CLI::App& command, const char* name, std::vector<std::string>& patterns, const char* help) {
  const auto check = [](const std::string& pattern) {
    const auto checked = wire::check_name_pattern(pattern);
    return checked ? ""
                   : "'" + escaped(pattern) + "' is not a pattern of topics: " + escaped(checked.error().message());
  };
  command.add_option(name, patterns, help)
      ->type_name("PATTERN")
      ->delimiter(',')
      ->expected(1)
      ->allow_extra_args(false)  // or it would take the files that follow
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->check(CLI::Validator(check, "", "pattern"));
}

}  // namespace

bool topic_filter::takes(std::string_view topic) const noexcept {
  return (only.empty() || matches_any(only, topic)) && !matches_any(exclude, topic);
}

void add_topic_filter(CLI::App& command, topic_filter& filter) {
  add_patterns(command, "--topics,--topic", filter.only,
               "Only topics that match: * stands for any characters but /, ** for any; several with commas");
  add_patterns(command, "--exclude", filter.exclude, "All topics but these; counts more than --topics");
}

}  // namespace orc::cli
