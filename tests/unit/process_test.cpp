// What the participants of one process share, and for how long.
#include "core/process.h"

#include <memory>
#include <variant>

#include "support/catch.h"
#include "support/no_descriptors.h"

using orc::errc;
using orc::detail::process;

namespace {

std::shared_ptr<process> acquired() {
  auto made = process::acquire();
  REQUIRE(std::holds_alternative<std::shared_ptr<process>>(made));
  return std::get<std::shared_ptr<process>>(made);
}

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
  const orc::test::no_descriptors limit;
  const auto made = process::acquire();
  const auto* const failed = std::get_if<orc::error>(&made);
  REQUIRE(failed != nullptr);
  CHECK(failed->code() == errc::no_descriptors);
  CHECK_THAT(failed->message(), orc::test::contains("ulimit -n"));
}
