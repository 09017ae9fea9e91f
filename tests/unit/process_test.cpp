// What the participants of one process share, and for how long.
#include "core/participant/process.h"

#include <memory>

#include "support/catch.h"
#include "support/no_descriptors.h"
#include "support/value_of.h"

using orc::errc;
using orc::detail::process;

namespace {

std::shared_ptr<process> acquired() { return orc::test::value_of(process::acquire()); }

}  // namespace

TEST_CASE("process: all participants share one, and it ends with the last", "[unit]") {
  auto first = acquired();
  auto second = acquired();
  CHECK(first == second);
  CHECK(first->local_publications() != nullptr);
  const std::weak_ptr<process> shared = first;
  first.reset();
  CHECK(acquired() == second);
  second.reset();
  CHECK(shared.expired());
  CHECK(acquired() != nullptr);
}

TEST_CASE("process: without descriptors there is none, and the error names the remedy", "[unit]") {
  if (orc::test::under_address_sanitizer) return orc::test::skip(orc::test::ubsan_needs_descriptors);
  const orc::test::no_descriptors limit;
  const auto made = process::acquire();
  REQUIRE_FALSE(made);
  CHECK(made.error().code() == errc::no_descriptors);
  CHECK_THAT(made.error().message(), orc::test::contains("ulimit -n"));
}
