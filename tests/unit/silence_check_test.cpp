// When a silent broker is looked at, and what is kept of the outcome.
#include "core/broker/silence_check.h"

#include "support/catch.h"
#include "support/private_endpoint.h"
#include "support/wait_until.h"

using namespace orc::test;
using namespace std::chrono_literals;
using orc::detail::monotonic;
using orc::detail::silence_check;
using texts = std::vector<std::string>;

namespace {

constexpr auto start = monotonic::time_point() + 1h;

// True: a check ended.
bool await_end(silence_check& check, monotonic::time_point now) {
  return wait_until([&] { return check.step(now); });
}

}  // namespace

TEST_CASE("silence check: it finds what is wrong with each endpoint", "[unit]") {
  const private_endpoint nothing;
  silence_check check({nothing.endpoint(), "ipc://" + nothing.directory() + "/a/b", "unknown://x"});
  CHECK_FALSE(check.step(start));
  CHECK(await_end(check, start + silence_check::first_after));
  CHECK(check.findings() == texts{"nothing there", "nothing there", ""});
}

TEST_CASE("silence check: it waits before the first check, and between two", "[unit]") {
  const private_endpoint nothing;
  silence_check check({nothing.endpoint()});
  CHECK_FALSE(check.step(start));
  const auto first = start + silence_check::first_after;
  CHECK(check.next_step(start) == first);
  CHECK_FALSE(check.step(first - 1ms));
  CHECK_FALSE(check.is_checking());
  CHECK_FALSE(check.step(first));
  CHECK(check.is_checking());
  CHECK(check.next_step(first) < first + 1s);  // to see the end of it
  CHECK(await_end(check, first));
  CHECK(check.findings() == texts{"nothing there"});
  const auto second = first + silence_check::interval;
  CHECK(check.next_step(first) == second);
  CHECK_FALSE(check.step(second - 1ms));
  CHECK_FALSE(check.is_checking());
  CHECK_FALSE(check.step(second));
  CHECK(check.is_checking());
  CHECK(await_end(check, second));
}

TEST_CASE("silence check: when a broker answers, the findings of then are dropped", "[unit]") {
  const private_endpoint nothing;
  silence_check check({nothing.endpoint()});
  CHECK_FALSE(check.step(start));
  REQUIRE(await_end(check, start + 1s));
  CHECK(check.findings().size() == 1);
  check.end();
  CHECK(check.findings().empty());
  // Also those of a check that still runs.
  CHECK_FALSE(check.step(start + 10s));
  CHECK_FALSE(check.step(start + 11s));
  check.end();
  CHECK(await_end(check, start + 12s));
  CHECK(check.findings().empty());
}

TEST_CASE("silence check: without a named endpoint there is nothing to check", "[unit]") {
  silence_check check({});
  CHECK_FALSE(check.step(start));
  CHECK_FALSE(check.step(start + 1h));
  CHECK_FALSE(check.is_checking());
  CHECK(check.next_step(start) == monotonic::time_point::max());
  CHECK(check.findings().empty());
}
