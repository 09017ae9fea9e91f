// Which types match, and the sentence where they do not: the table in schemas/golden.
#include <string>

#include "orc/schema.h"
#include "support/catch.h"
#include "support/type_check_cases.h"

using namespace orc;

namespace {

std::string name_of(errc code) {
  if (code == errc::ok) return "ok";
  if (code == errc::type_mismatch) return "type_mismatch";
  return code == errc::bad_argument ? "bad_argument" : "another code";
}

}  // namespace

TEST_CASE("type check: the table of cases") {
  const auto cases = orc::test::type_check_cases();
  REQUIRE(cases.size() >= 60);
  for (const auto& each : cases) {
    INFO(each.name);
    const auto outcome = check_types(each.published, each.expected, each.publisher);
    CHECK(name_of(outcome.code()) == each.result);
    if (!outcome) CHECK(outcome.error().message() == each.message);
  }
}

TEST_CASE("type check: what matches does so in both directions") {
  for (const auto& each : orc::test::type_check_cases()) {
    INFO(each.name);
    const bool there = static_cast<bool>(check_types(each.published, each.expected, "x"));
    CHECK(there == static_cast<bool>(check_types(each.expected, each.published, "x")));
    CHECK(check_types(each.published, each.published, "x"));
  }
}
