#include "core/links/departure.h"

#include "support/catch.h"

using orc::detail::departure;
using orc::detail::monotonic;
using std::chrono::milliseconds;

namespace {
constexpr auto start = monotonic::time_point() + std::chrono::hours(1);
}

TEST_CASE("departure: what was on its way does not count as sent since then") {
  departure d;
  CHECK_FALSE(d.is_said());
  d.begin(start);
  d.look(start + milliseconds(10), 7);
  d.look(start + milliseconds(400), 8);
  d.look(start + milliseconds(600), 8);
  d.look(start + milliseconds(3000), 8);
  CHECK_FALSE(d.sends_on());
  CHECK(d.is_said());
  CHECK_FALSE(d.is_overdue(start + milliseconds(2999)));
  CHECK(d.is_overdue(start + milliseconds(3000)));
}

TEST_CASE("departure: samples that go on coming put the end off") {
  departure d;
  d.begin(start);
  d.look(start + milliseconds(500), 8);
  d.look(start + milliseconds(1000), 9);
  CHECK(d.sends_on());
  CHECK_FALSE(d.is_overdue(start + milliseconds(3500)));
  d.look(start + milliseconds(4000), 10);
  CHECK_FALSE(d.is_overdue(start + milliseconds(6999)));
  CHECK(d.is_overdue(start + milliseconds(7000)));
  d.begin(start + milliseconds(8000));
  CHECK_FALSE(d.sends_on());
  d.forget();
  CHECK_FALSE(d.is_said());
}

TEST_CASE("departure: the next look is always ahead, and there is an end of looking") {
  departure d;
  CHECK_FALSE(d.next_look(start));
  d.begin(start);
  auto now = start;
  int looks = 0;
  while (const auto next = d.next_look(now)) {
    REQUIRE(*next > now);
    now = *next;
    d.look(now, 5);
    REQUIRE(++looks <= 3);
  }
  CHECK(looks == 3);
  CHECK(d.is_overdue(now));
}
