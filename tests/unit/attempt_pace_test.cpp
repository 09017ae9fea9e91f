// How often a peer can cause attempts to connect.
#include "core/links/attempt_pace.h"

#include "support/catch.h"

using orc::detail::attempt_pace;
using orc::detail::monotonic;
using namespace std::chrono_literals;

namespace {
constexpr auto start = monotonic::time_point() + 1h;
constexpr auto at_once = monotonic::time_point();
}  // namespace

TEST_CASE("attempt pace: the first attempt is at once, the next ones at growing intervals", "[unit]") {
  attempt_pace pace;
  CHECK(pace.book(start) == at_once);
  auto last = start;
  for (const auto interval : {250ms, 500ms, 1000ms, 1000ms}) {
    CHECK(pace.book(last) == last + interval);
    last += interval;
  }
}

TEST_CASE("attempt pace: until an attempt begins, it stays booked", "[unit]") {
  attempt_pace pace;
  static_cast<void>(pace.book(start));
  const auto next = pace.book(start);
  for (auto now = start; now < next; now += 1ms) REQUIRE(pace.book(now) == next);
  CHECK(pace.book(next) > next);
}

TEST_CASE("attempt pace: after a calm time the first attempt is at once again", "[unit]") {
  attempt_pace pace;
  for (int n = 0; n < 4; ++n) static_cast<void>(pace.book(start + n * 10s));
  CHECK(pace.book(start + 50s) == at_once);
  CHECK(pace.book(start + 50s) == start + 50s + attempt_pace::shortest);
}

TEST_CASE("attempt pace: an attempt that is overdue may begin at once", "[unit]") {
  attempt_pace pace;
  static_cast<void>(pace.book(start));
  CHECK(pace.book(start + 2s) == at_once);
}
