// How a timeout becomes the end of a wait.
#include <chrono>
#include <climits>

#include "base/clock.h"
#include "support/catch.h"

using namespace std::chrono_literals;
using orc::detail::deadline;
using orc::detail::timeout_of;

namespace {

// What is left of a wait that began just now.
std::chrono::nanoseconds left(const deadline& until) {
  const auto rest = until.left();
  REQUIRE(rest);
  return std::chrono::seconds(rest->tv_sec) + std::chrono::nanoseconds(rest->tv_nsec);
}

}  // namespace

TEST_CASE("deadline: a timeout below a millisecond is neither zero nor a millisecond", "[unit]") {
  const deadline until(200us);
  const auto rest = left(until);
  CHECK(rest <= 200us);  // whatever the test took so far
  while (!until.passed()) {
  }
  CHECK(left(until) == 0ns);
  CHECK(left(deadline(std::chrono::hours(1) + 1ns)) > std::chrono::minutes(59));
}

TEST_CASE("deadline: what is left never exceeds the timeout, and is all of it at the start", "[unit]") {
  const auto before = std::chrono::steady_clock::now();
  const deadline until(10s + 300us);
  const auto rest = left(until);
  const auto after = std::chrono::steady_clock::now();
  CHECK(rest <= 10s + 300us);
  CHECK(rest >= 10s + 300us - (after - before));
}

TEST_CASE("deadline: zero is over at once, forever and what the clock cannot count never", "[unit]") {
  CHECK(deadline(0ns).passed());
  CHECK(deadline(0).passed());
  CHECK_FALSE(deadline(orc::forever).left());
  CHECK_FALSE(deadline(orc::forever - 1ns).left());
  CHECK_FALSE(deadline(orc::forever - 1ns).passed());
  CHECK_FALSE(deadline(-1).left());
}

TEST_CASE("deadline: milliseconds become a duration, and only -1 is for ever", "[unit]") {
  CHECK(timeout_of(-1) == orc::forever);
  CHECK(timeout_of(0) == 0ns);
  CHECK(timeout_of(1) == 1ms);
  CHECK(timeout_of(INT_MAX) == std::chrono::milliseconds(INT_MAX));
  CHECK(timeout_of(-2) < 0ns);
  CHECK(timeout_of(INT_MIN) < 0ns);
}

TEST_CASE("deadline: a text names a time in its largest whole unit", "[unit]") {
  CHECK(orc::detail::text_of(2s) == "2000 ms");
  CHECK(orc::detail::text_of(500us) == "500 us");
  CHECK(orc::detail::text_of(-1ns) == "-1 ns");
}
