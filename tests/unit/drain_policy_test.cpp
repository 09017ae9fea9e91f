// Who empties a link: the user while he comes by, the housekeeping when he stays away.
#include "core/subscription/drain_policy.h"
#include "support/catch.h"

namespace {

using orc::detail::drain_policy;
using orc::detail::monotonic;
using std::chrono::milliseconds;

const monotonic::time_point start{std::chrono::hours(1)};

}  // namespace

TEST_CASE("drain policy: a user who comes by is left alone") {
  drain_policy a;
  for (int n = 0; n < 100; ++n) {
    a.user_came();
    CHECK_FALSE(a.should_drain(start + milliseconds(10 * n), false));
    CHECK_FALSE(a.watch(start + milliseconds(10 * n)));
  }
}

TEST_CASE("drain policy: a user who stays away is drained for, first at the next look, then by descriptor") {
  drain_policy a;
  a.user_came();
  CHECK_FALSE(a.should_drain(start, false));
  CHECK_FALSE(a.should_drain(start + milliseconds(9), false));
  const auto late = start + milliseconds(10);
  CHECK(a.should_drain(late, false));
  a.drained(late, false);
  CHECK(a.watch(late));
  CHECK_FALSE(a.next(late));
}

TEST_CASE("drain policy: draining for an absent user is limited in rate") {
  drain_policy a;
  const auto now = start;
  CHECK(a.should_drain(now, false));
  a.drained(now, true);
  CHECK_FALSE(a.watch(now + milliseconds(1)));
  CHECK_FALSE(a.should_drain(now + milliseconds(1), false));
  CHECK(a.next(now + milliseconds(1)) == now + drain_policy::drain_interval);
  CHECK(a.should_drain(now + drain_policy::drain_interval, false));
}

TEST_CASE("drain policy: a user who waits is looked after ever more rarely, and never by descriptor") {
  drain_policy a;
  a.user_came();
  CHECK_FALSE(a.should_drain(start, true));
  auto now = start;
  milliseconds between{0};
  for (int n = 0; n < 10; ++n) {
    const auto next = a.next(now);
    REQUIRE(next);
    between = std::chrono::duration_cast<milliseconds>(*next - now);
    now = *next;
    CHECK(a.should_drain(now, true));
    a.drained(now, false);
    CHECK_FALSE(a.watch(now));
  }
  CHECK(between == drain_policy::max_look_interval);
}
