#include "wire/name_pattern.h"

#include <algorithm>
#include <array>
#include <string>

#include "wire/control.h"

namespace orc::wire {
namespace {

constexpr char one_level = '*';
constexpr char any_levels = '\0';

// The parts of a pattern: characters, one_level, any_levels.
struct tokens {
  explicit tokens(std::string_view pattern) noexcept {
    for (std::size_t i = 0; i < pattern.size() && count < max_topic_name; ++i) {
      const bool any = pattern[i] == '*' && pattern.substr(i, 2) == "**";
      all[count++] = any ? any_levels : pattern[i];
      while (any && pattern.substr(i + 1, 1) == "*") ++i;
    }
  }
  std::array<char, max_topic_name> all{};
  std::size_t count = 0;
};

}  // namespace

result check_name_pattern(std::string_view pattern) {
  std::string plain(pattern);
  std::replace(plain.begin(), plain.end(), '*', '.');
  const auto checked = check_topic_name(plain);
  if (checked) return {};
  return {errc::bad_argument, "a pattern of topic names: " + checked.error().message()};
}

// Follows all possible matches at once, because backtracking could take seconds.
bool matches(std::string_view pattern, std::string_view name, std::size_t& steps) noexcept {
  ++steps;
  const auto plain = std::min(pattern.find('*'), pattern.size());
  if (name.substr(0, plain) != pattern.substr(0, plain)) return false;
  name.remove_prefix(plain);
  const tokens wanted(pattern.substr(plain));
  steps += name.size() * wanted.count;
  std::array<bool, max_topic_name + 1> done{true};  // done[n]: the first n tokens match the name so far
  const auto skip = [&](std::size_t n) { return wanted.all[n] == one_level || wanted.all[n] == any_levels; };
  for (std::size_t n = 0; n < wanted.count; ++n) done[n + 1] = skip(n) && done[n];
  for (const char c : name) {
    bool before = done[0];
    done[0] = false;
    for (std::size_t n = 0; n < wanted.count; ++n) {
      const bool here = done[n + 1];
      const char token = wanted.all[n];
      if (skip(n))
        done[n + 1] = done[n] || (here && (token == any_levels || c != '/'));
      else
        done[n + 1] = before && token == c;
      before = here;
    }
  }
  return done[wanted.count];
}

}  // namespace orc::wire
