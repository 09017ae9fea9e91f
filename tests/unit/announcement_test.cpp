// When a declaration is sent, and what threads that wait for its outcome get.
#include "core/broker/announcement.h"

#include "support/catch.h"
#include "support/waiting_thread.h"

using orc::errc;
using orc::error;
using orc::detail::announcement;
using orc::detail::deadline;
using orc::detail::monotonic;
using namespace std::chrono_literals;

namespace {

constexpr auto start = monotonic::time_point() + 1h;

errc outcome(const announcement& a) { return a.wait(deadline(0)).code(); }

}  // namespace

TEST_CASE("announcement: it is sent at once, and again at growing intervals until it is confirmed", "[unit][threads]") {
  announcement a;
  CHECK_FALSE(a.was_sent());
  CHECK(a.due(start));
  auto now = start;
  for (const auto interval : {300ms, 600ms, 1200ms, 2400ms, 2400ms}) {
    a.sent(16, now);
    CHECK(a.was_sent());
    CHECK(a.next() == now + interval);
    CHECK_FALSE(a.due(now + interval - 1ms));
    now += interval;
    CHECK(a.due(now));
  }
  CHECK(outcome(a) == errc::timed_out);
  a.confirmed();
  CHECK_FALSE(a.due(now + 1h));
  CHECK_FALSE(a.next());
  CHECK(outcome(a) == errc::ok);
}

TEST_CASE("announcement: only the answer to the last request counts", "[unit][threads]") {
  announcement a;
  CHECK_FALSE(a.awaits(16));
  a.sent(16, start);
  CHECK(a.awaits(16));
  a.sent(17, start + 300ms);
  CHECK_FALSE(a.awaits(16));
  CHECK(a.awaits(17));
  a.confirmed();
  CHECK_FALSE(a.awaits(17));
}

TEST_CASE("announcement: a refused one has the reason, and is sent again only when the reason may be gone",
          "[unit][threads]") {
  announcement a;
  a.sent(16, start);
  a.refused(error(errc::name_taken, "by robot"));
  CHECK(a.is_refused());
  CHECK(a.wait(deadline(-1)).error().message() == "by robot");
  a.renew();
  a.moved();
  CHECK_FALSE(a.due(start + 1h));
  a.reopen();
  CHECK(a.due(start + 1h));
  a.refused(error(errc::bad_argument, "bad endpoint"));
  a.moved();  // another endpoint may be a good one
  CHECK(a.due(start + 1h));
}

TEST_CASE("announcement: another broker gets a confirmed one again", "[unit][threads]") {
  announcement a;
  a.confirmed();
  a.renew();
  CHECK(a.due(start));
  CHECK(outcome(a) == errc::timed_out);
}

TEST_CASE("announcement: an obstacle ends the wait, and the declaration stays", "[unit][threads]") {
  announcement a;
  a.held_up(error(errc::refused, "the broker is full"));
  CHECK(a.wait(deadline(-1)).error().message() == "the broker is full");
  CHECK(a.due(start));
  a.held_up(std::nullopt);
  CHECK(outcome(a) == errc::timed_out);
  a.held_up(error(errc::refused, "the broker is full"));
  a.renew();
  CHECK(outcome(a) == errc::timed_out);
  a.confirmed();
  a.held_up(error(errc::refused, "the broker is full"));
  CHECK(outcome(a) == errc::ok);
}

TEST_CASE("announcement: one that is given up tells threads that wait, and keeps an outcome that it has",
          "[unit][threads]") {
  announcement open;
  orc::result waited;
  orc::test::waiting_thread user([&] { waited = open.wait(deadline(orc::test::waiting_thread::limit)); });
  REQUIRE(user.await_sleep());
  open.withdrawn();
  CHECK(user.await_end());
  CHECK(waited.code() == errc::closed);
  open.sent(16, start);  // the housekeeping was about to
  CHECK(outcome(open) == errc::closed);
  announcement done;
  done.confirmed();
  done.withdrawn();
  CHECK(outcome(done) == errc::ok);
}
