// When a publication sent its newest sample, and how regularly, whatever the realtime clock does meanwhile.
#include "core/publication/interval_meter.h"

#include "support/catch.h"

using orc::detail::interval_meter;

namespace {

constexpr std::int64_t ms = 1'000'000;
constexpr std::int64_t s = 1'000 * ms;

// A clock of each kind. `set` is what the realtime clock is ahead.
struct clocks {
  std::int64_t monotonic = 100 * s;
  std::int64_t set = 1'700'000'000 * s;
  interval_meter meter;

  void send_after(std::int64_t ns) {
    monotonic += ns;
    meter.add(monotonic + set);
  }
  interval_meter::report report_after(std::int64_t ns) {
    monotonic += ns;
    return meter.take(monotonic, monotonic + set);
  }
};

}  // namespace

TEST_CASE("interval meter: without a sample there is neither a time nor a jitter", "[unit]") {
  clocks now;
  const auto report = now.report_after(s);
  CHECK(report.newest_ns == 0);
  CHECK(report.jitter_ns == -1);
}

TEST_CASE("interval meter: the newest sample has the monotonic time at which it was sent", "[unit]") {
  clocks now;
  now.send_after(0);
  now.send_after(30 * ms);
  const std::int64_t sent = now.monotonic;
  CHECK(now.report_after(400 * ms).newest_ns == sent);
  CHECK(now.report_after(s).newest_ns == sent);
}

TEST_CASE("interval meter: jitter is the standard deviation of the intervals since the report before", "[unit]") {
  clocks now;
  now.send_after(0);
  for (int n = 0; n < 50; ++n) {
    now.send_after(9 * ms);
    now.send_after(11 * ms);
  }
  CHECK(now.report_after(ms).jitter_ns == ms);
  for (int n = 0; n < 100; ++n) now.send_after(n == 0 ? 9 * ms : 10 * ms);  // 1 ms was before the report
  CHECK(now.report_after(ms).jitter_ns == 0);
}

TEST_CASE("interval meter: a regular topic has no jitter, at 1 Hz or at 100 kHz", "[unit]") {
  const auto interval = GENERATE(std::int64_t{10'000}, ms, s);
  clocks now;
  for (int n = 0; n < 1'000; ++n) now.send_after(interval);
  CHECK(now.report_after(0).jitter_ns == 0);
}

TEST_CASE("interval meter: an interval of hours beside short ones keeps the digits of the short ones", "[unit]") {
  clocks now;
  now.send_after(0);
  now.send_after(7'200 * s);
  (void)now.report_after(0);
  now.send_after(10 * ms);
  (void)now.report_after(0);  // the jitter of 2 h is reported here
  for (int n = 0; n < 10; ++n) now.send_after(n % 2 == 0 ? 10 * ms : 10 * ms + 200);
  CHECK(now.report_after(0).jitter_ns == 100);
}

TEST_CASE("interval meter: intervals of a slow topic count for a later report, until there are two", "[unit]") {
  clocks now;
  now.send_after(0);
  CHECK(now.report_after(s).jitter_ns == -1);
  now.send_after(s);
  CHECK(now.report_after(s).jitter_ns == -1);
  now.send_after(2 * s);
  CHECK(now.report_after(s).jitter_ns == s / 2);  // of 2 s and 3 s
  CHECK(now.report_after(s).jitter_ns == -1);
}

TEST_CASE("interval meter: a clock that is set gives no jitter, and no sample of the future or of the past", "[unit]") {
  const auto step = GENERATE(-3'600 * s, -10 * ms, 10 * ms, 3'600 * s);
  clocks now;
  for (int n = 0; n < 100; ++n) now.send_after(10 * ms);
  const std::int64_t before = now.report_after(5 * ms).newest_ns;
  const std::int64_t reported = now.monotonic;
  now.set += step;
  CHECK(now.report_after(s).newest_ns == before);  // not moved by the step

  for (int n = 0; n < 50; ++n) now.send_after(10 * ms);
  now.set += step;
  const auto across = now.report_after(5 * ms);
  CHECK(across.jitter_ns == -1);
  CHECK(across.newest_ns >= reported);
  CHECK(across.newest_ns <= now.monotonic);

  for (int n = 0; n < 50; ++n) now.send_after(10 * ms);
  const std::int64_t sent = now.monotonic;
  const auto after = now.report_after(5 * ms);
  CHECK(after.newest_ns == sent);
  CHECK(after.jitter_ns == 0);
}

TEST_CASE("interval meter: a clock that NTP corrects slowly is no clock that was set", "[unit]") {
  clocks now;
  for (int report = 0; report < 10; ++report) {
    for (int n = 0; n < 100; ++n) {
      now.set += 5'000;  // 500 ppm
      now.send_after(10 * ms);
    }
    CHECK(now.report_after(0).jitter_ns == 0);
  }
}
