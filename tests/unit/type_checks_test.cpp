// The outcomes of comparisons that a participant keeps.
#include "core/types/type_checks.h"

#include <string>

#include "support/catch.h"
#include "support/struct_types.h"

using namespace orc::detail;
using namespace orc::test;
using orc::errc;

namespace {

constexpr std::uint64_t here = 1000;

struct fixture {
  const orc::result& compare(std::uint64_t published, const std::string& publisher, std::string_view element) {
    return checks.compare(struct_type(element), published, struct_type("float64"), here, publisher);
  }
  type_checks checks;
};

}  // namespace

TEST_CASE("type checks: types that match are compared once, whoever publishes", "[unit]") {
  fixture f;
  CHECK(f.checks.find(1, here, "a") == nullptr);
  CHECK(f.compare(1, "a", "float64"));
  REQUIRE(f.checks.find(1, here, "b") != nullptr);
  CHECK(*f.checks.find(1, here, "b"));
  CHECK(f.checks.find(here, 1, "a") == nullptr);
  CHECK(f.compare(1, "b", "float32"));  // it does not look at the descriptions again
}

TEST_CASE("type checks: a mismatch is known for the publisher that it names", "[unit]") {
  fixture f;
  CHECK(f.compare(1, "a", "float32").error().message() == mismatch_of_structs("a"));
  CHECK(f.checks.find(1, here, "b") == nullptr);
  CHECK(f.compare(1, "b", "float32").error().message() == mismatch_of_structs("b"));
  REQUIRE(f.checks.find(1, here, "a") != nullptr);
  CHECK(f.checks.find(1, here, "a")->code() == errc::type_mismatch);
}

TEST_CASE("type checks: the pair that was looked up longest ago is forgotten", "[unit]") {
  fixture f;
  for (std::uint64_t n = 1; n <= type_checks::max_kept; ++n) CHECK(f.compare(n, "a", "float64"));
  CHECK(f.checks.find(1, here, "a") != nullptr);
  CHECK(f.compare(type_checks::max_kept + 1, "a", "float64"));
  CHECK(f.checks.find(1, here, "a") != nullptr);
  CHECK(f.checks.find(2, here, "a") == nullptr);
  CHECK(f.checks.find(3, here, "a") != nullptr);
}
