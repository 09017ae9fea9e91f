#include "tools/orc/top/parameter_watch.h"

#include <algorithm>
#include <map>
#include <utility>

#include "tools/orc/param/param.h"
#include "tools/terminal/display_width.h"

namespace orc::cli {

namespace {

using namespace std::chrono_literals;

constexpr std::size_t most_programs = 64;
constexpr std::size_t most_of_one = 256;    // parameters
constexpr std::size_t longest_text = 200;   // columns of a value or a description
constexpr auto program_patience = 300ms;    // with a program that answered the last time
constexpr auto patience_of_silent = 250ms;  // with the others

// The parameters of each program, and how many are above the limits.
std::vector<std::vector<parameter_description>> by_program(std::vector<parameter_description> all,
                                                           std::size_t& left_out) {
  std::map<std::string, std::size_t> places;
  std::vector<std::vector<parameter_description>> programs;
  for (parameter_description& each : all) {
    const auto place = places.try_emplace(each.owner.id, programs.size()).first->second;
    if (place == programs.size() && place < most_programs) programs.emplace_back();
    if (place < programs.size() && programs[place].size() < most_of_one)
      programs[place].push_back(std::move(each));
    else
      ++left_out;
  }
  return programs;
}

parameter_row row_of(const parameter_description& of, const std::string& value) {
  return {.name = of.name,
          .owner = of.owner,
          .value = std::string(terminal::head(value, longest_text)),
          .allowed = allowed_text(of),
          .description = std::string(terminal::head(of.description, longest_text))};
}

}  // namespace

result parameter_watch::look(const std::function<bool()>& ends, program_figures& found) {
  parameters all;
  if (result listed = list_parameters(directory_, "**", all); !listed) return listed;
  const auto programs = by_program(std::move(all), found.left_out);
  std::set<std::string> silent;
  for (const parameters& each : programs)
    if (silent_.contains(each.front().owner.id)) silent.insert(each.front().owner.id);
  silent_ = std::move(silent);  // without those that are gone
  if (result asked = ask_silent(programs, found); !asked) return asked;
  for (const parameters& each : programs) {
    if (ends()) return errc::closed;
    if (silent_.contains(each.front().owner.id)) continue;
    if (result asked = ask(each, program_patience, found); !asked) return asked;
  }
  std::ranges::sort(found.parameters, {}, &parameter_row::name);
  return {};
}

result parameter_watch::ask(const parameters& some, std::chrono::milliseconds timeout, program_figures& found) {
  std::vector<parameter_outcome> outcomes;
  if (result asked = get_parameters(participant_, directory_, some, timeout, outcomes); !asked) return asked;
  for (std::size_t n = 0; n < some.size(); ++n) {
    const parameter_description& each = some[n];
    if (outcomes[n].outcome.code() == errc::timed_out) silent_.insert(each.owner.id);
    found.parameters.push_back(row_of(each, outcomes[n].outcome ? value_text(outcomes[n].value) : "?"));
  }
  return {};
}

result parameter_watch::ask_silent(const std::vector<parameters>& programs, program_figures& found) {
  parameters first;
  for (const parameters& each : programs)
    if (silent_.contains(each.front().owner.id)) first.push_back(each.front());
  if (first.empty()) return {};
  std::vector<parameter_outcome> outcomes;
  if (result asked = get_parameters(participant_, directory_, first, patience_of_silent, outcomes); !asked)
    return asked;
  for (std::size_t n = 0; n < first.size(); ++n)
    if (outcomes[n].outcome.code() != errc::timed_out) silent_.erase(first[n].owner.id);
  for (const parameters& each : programs) {
    if (!silent_.contains(each.front().owner.id)) continue;
    for (const parameter_description& one : each) found.parameters.push_back(row_of(one, "?"));
  }
  return {};
}

}  // namespace orc::cli
