// Patterns of topic names.
#include "wire/name_pattern.h"

#include <algorithm>
#include <random>
#include <string>

#include "support/catch.h"

using orc::wire::matches;

namespace {

// The definition, one character after the other; takes exponential time.
bool by_definition(std::string_view pattern, std::string_view name) {
  if (pattern.empty()) return name.empty();
  if (pattern.front() != '*') {
    return !name.empty() && pattern.front() == name.front() && by_definition(pattern.substr(1), name.substr(1));
  }
  const auto stars = std::min(pattern.find_first_not_of('*'), pattern.size());
  for (std::size_t taken = 0; taken <= name.size(); ++taken) {
    if (by_definition(pattern.substr(stars), name.substr(taken))) return true;
    if (stars == 1 && taken < name.size() && name[taken] == '/') return false;
  }
  return false;
}

std::string random_text(std::mt19937& random, std::string_view of, std::size_t longest) {
  std::string text(random() % (longest + 1), ' ');
  for (auto& each : text) each = of[random() % of.size()];
  return text;
}

}  // namespace

TEST_CASE("name pattern: one star stays within a level, two do not") {
  CHECK(matches("arm/position", "arm/position"));
  CHECK_FALSE(matches("arm/position", "arm/positions"));
  CHECK_FALSE(matches("arm/position", "arm/positio"));
  CHECK(matches("arm/*", "arm/position"));
  CHECK_FALSE(matches("arm/*", "arm/left/position"));
  CHECK_FALSE(matches("arm/*", "leg/position"));
  CHECK(matches("arm/**", "arm/left/position"));
  CHECK(matches("*/position", "arm/position"));
  CHECK_FALSE(matches("*", "arm/position"));
  CHECK(matches("**", "arm/position"));
  CHECK(matches("***", "arm/position"));
  CHECK(matches("**/position", "arm/left/position"));
  CHECK(matches("ca*_raw", "camera_raw"));
  CHECK(matches("a*", "a"));
  CHECK_FALSE(matches("", "a"));
}

TEST_CASE("name pattern: matches as it is defined, whatever name and pattern") {
  std::mt19937 random(7);
  std::size_t matched = 0;
  for (int i = 0; i < 50'000; ++i) {
    const auto pattern = random_text(random, "ab/**", 7);
    const auto name = random_text(random, "ab/", 7);
    INFO(pattern << " and " << name);
    const bool expected = by_definition(pattern, name);
    REQUIRE(matches(pattern, name) == expected);
    matched += expected ? 1 : 0;
  }
  CHECK(matched > 1'000);
}

TEST_CASE("name pattern: the worst pattern takes no more steps than the product of the lengths") {
  std::string pattern;
  while (pattern.size() < 252) pattern += "a**";
  const std::string name(255, 'a');
  std::size_t steps = 0;
  CHECK_FALSE(matches(pattern + "b", name, steps));
  CHECK(steps <= 1 + 255 * 255);
  CHECK(steps > 10'000);
}

TEST_CASE("name pattern: what is no pattern is refused with a reason") {
  using orc::wire::check_name_pattern;
  CHECK(check_name_pattern("arm/*"));
  CHECK(check_name_pattern("**"));
  CHECK(check_name_pattern(std::string(255, '*')));
  CHECK_FALSE(check_name_pattern(""));
  CHECK_FALSE(check_name_pattern(std::string(256, '*')));
  const auto refused = check_name_pattern("arm/?");
  CHECK(refused.code() == orc::errc::bad_argument);
  CHECK(refused.error().message().find("'?'") != std::string::npos);
}
