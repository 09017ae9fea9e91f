// Rates and ages from the counters that participants report: right for slow and fast topics, never negative or absurd.
#include "tools/view/meters.h"

#include "support/catch.h"

using namespace orc::view;
using namespace std::chrono_literals;
using orc::publication_counters;

namespace {

constexpr std::int64_t ms = 1'000'000;
constexpr std::int64_t s = 1'000 * ms;

// A publisher whose clock moves with it.
struct publisher {
  publication_counters counters{.sampled_ns = 500 * s};
  std::int64_t now = 500 * s;

  void send_after(std::int64_t ns, std::uint64_t size = 100) {
    now += ns;
    ++counters.sent;
    counters.bytes += size;
    counters.last_sent_ns = now;
  }
  void send(int count, std::int64_t interval) {
    for (int n = 0; n < count; ++n) send_after(interval);
  }
  const publication_counters& report_after(std::int64_t ns, std::chrono::milliseconds age = 0ms) {
    counters.sampled_ns = now += ns;
    counters.age = age;
    return counters;
  }
};

}  // namespace

TEST_CASE("view: a rate takes two reports of the same publication", "[unit]") {
  publisher from;
  publication_meter meter;
  CHECK_FALSE(meter.rate_hz());
  from.send(1'000, ms);
  meter.take(from.report_after(0));
  meter.take(from.counters);  // asked again before the next report
  CHECK_FALSE(meter.rate_hz());
  from.send(1'000, ms);
  meter.take(from.report_after(0));
  CHECK(meter.rate_hz() == Approx(1'000));
  CHECK(meter.bytes_per_s() == Approx(100'000));
  meter.take(from.counters);
  CHECK(meter.rate_hz() == Approx(1'000));
}

TEST_CASE("view: reports that come late, or are left out, do not change a rate", "[unit]") {
  publisher from;
  publication_meter meter;
  meter.take(from.report_after(0));
  from.send(1'234, 5 * ms);
  meter.take(from.report_after(0, 2'900ms));
  CHECK(meter.rate_hz() == Approx(200));
}

TEST_CASE("view: a slow topic has its rate, and keeps it between two samples", "[unit]") {
  const auto interval = GENERATE(800 * ms, 1'000 * ms, 1'300 * ms, 7'000 * ms);
  publisher from;
  publication_meter meter;
  std::int64_t next = from.now + interval;
  std::int64_t next_report = from.now + s;
  int known = 0;
  for (int reports = 0; reports < 100;) {
    if (next <= next_report) {
      from.send_after(next - from.now);
      next += interval;
    } else {
      meter.take(from.report_after(next_report - from.now));
      next_report += s;
      ++reports;
      if (from.counters.sent < 3) continue;
      REQUIRE(meter.rate_hz() == Approx(1e9 / static_cast<double>(interval)));
      ++known;
    }
  }
  CHECK(known > 50);
}

TEST_CASE("view: a topic that stops has the rate 0 and no jitter, and its age grows", "[unit]") {
  publisher from;
  from.counters.jitter_ns = 12'000;
  publication_meter meter;
  meter.take(from.report_after(0));
  from.send(1'000, ms);
  meter.take(from.report_after(0));
  CHECK(meter.jitter() == 12us);
  meter.take(from.report_after(s));
  CHECK(meter.rate_hz() == 0);
  CHECK(meter.bytes_per_s() == 0);
  CHECK_FALSE(meter.jitter());
  CHECK(meter.age() == 1s);
  meter.take(from.report_after(3'600 * s, 300ms));
  CHECK(meter.age() == 3'601s + 300ms);
  CHECK(age_of_newest(from.counters) == 3'601s + 300ms);
}

TEST_CASE("view: a topic that goes on after an hour has the rate of now", "[unit]") {
  publisher from;
  publication_meter meter;
  from.send(1, ms);
  meter.take(from.report_after(0));
  meter.take(from.report_after(3'600 * s));
  from.send(500, 2 * ms);
  meter.take(from.report_after(0));
  CHECK(meter.rate_hz() == Approx(500));
}

TEST_CASE("view: a burst counts as what it is in a second, not by its shortest interval", "[unit]") {
  publisher from;
  publication_meter meter;
  from.send(1, ms);
  meter.take(from.report_after(0));
  from.send(50, 10'000);
  meter.take(from.report_after(s - 500'000));
  CHECK(*meter.rate_hz() == Approx(50).epsilon(0.01));
}

TEST_CASE("view: while samples come faster than reports, the age is the one at the report", "[unit]") {
  publisher from;
  publication_meter meter;
  meter.take(from.report_after(0));
  from.send(100, 10 * ms);
  meter.take(from.report_after(3 * ms, 900ms));
  CHECK(meter.age() == 3ms);
  meter.take(from.report_after(0, 3'100ms));  // the publisher has fallen silent itself
  CHECK(meter.age() == 3'103ms);
}

TEST_CASE("view: a report some intervals after the newest sample does not make a fast topic old", "[unit]") {
  const auto late = GENERATE(5 * ms, 40 * ms, 99 * ms);
  publisher from;
  publication_meter meter;
  meter.take(from.report_after(0));
  from.send(1'000, ms);
  meter.take(from.report_after(late, 960ms));
  CHECK(meter.age() == std::chrono::nanoseconds(late));
  meter.take(from.report_after(150 * ms, 960ms));  // silent since then
  CHECK(meter.age() == std::chrono::nanoseconds(late) + 150ms + 960ms);
}

TEST_CASE("view: the rate of a slow topic is not known before its second sample, and 0 after half a minute", "[unit]") {
  publisher from;
  publication_meter meter;
  from.send_after(ms);
  meter.take(from.report_after(400 * ms));
  CHECK_FALSE(meter.is_measured());
  for (int reports = 0; reports < 4; ++reports) {
    meter.take(from.report_after(s));
    REQUIRE_FALSE(meter.rate_hz());
    REQUIRE_FALSE(meter.bytes_per_s());
    REQUIRE(meter.is_measured());
  }
  SECTION("a second sample gives the rate") {
    from.send_after(600 * ms);
    meter.take(from.report_after(400 * ms));
    CHECK(meter.rate_hz() == Approx(0.2));
  }
  SECTION("half a minute without one") {
    meter.take(from.report_after(26 * s));
    CHECK(meter.rate_hz() == 0);
  }
}

TEST_CASE("view: a publication without a sample has no age, and the rate 0", "[unit]") {
  publisher from;
  publication_meter meter;
  meter.take(from.report_after(0));
  meter.take(from.report_after(s));
  CHECK(meter.rate_hz() == 0);
  CHECK_FALSE(meter.age());
}

TEST_CASE("view: a publisher of an older library has rates without jitter and age", "[unit]") {
  publisher from;
  publication_meter meter;
  meter.take(from.report_after(0));
  from.send(100, 10 * ms);
  from.report_after(0);
  from.counters.last_sent_ns = {};
  meter.take(from.counters);
  CHECK(meter.rate_hz() == Approx(100));
  CHECK_FALSE(meter.age());
  CHECK_FALSE(meter.jitter());
}

TEST_CASE("view: counters that go back begin a new row", "[unit]") {
  publisher from;
  publication_meter meter;
  meter.take(from.report_after(0));
  from.send(100, 10 * ms);
  meter.take(from.report_after(0));
  const auto lower =
      GENERATE(as<std::uint64_t publication_counters::*>{}, &publication_counters::sent, &publication_counters::bytes);
  from.report_after(s);
  from.counters.*lower = 5;
  meter.take(from.counters);
  CHECK_FALSE(meter.rate_hz());
  CHECK_FALSE(meter.dropped_per_s());
}

TEST_CASE("view: dropped samples of a link that has closed make no negative rate", "[unit]") {
  publisher from;
  publication_meter meter;
  from.counters.dropped = 50;
  meter.take(from.report_after(0));
  from.counters.dropped = 60;
  meter.take(from.report_after(2 * s));
  CHECK(meter.dropped_per_s() == 5);
  from.counters.dropped = 0;
  meter.take(from.report_after(s));
  CHECK(meter.dropped_per_s() == 0);
  CHECK(meter.rate_hz() == 0);
}

TEST_CASE("view: two reports within a moment do not make a rate", "[unit]") {
  publisher from;
  publication_meter meter;
  meter.take(from.report_after(0));
  from.send(1, 1'000);
  meter.take(from.report_after(0));
  CHECK_FALSE(meter.rate_hz());
  from.send(99, 10 * ms);
  meter.take(from.report_after(9 * ms + 999'000));
  CHECK(meter.rate_hz() == Approx(100).epsilon(0.01));
}

TEST_CASE("view: whatever numbers a stranger makes up, rates and ages are numbers from 0 on", "[unit]") {
  constexpr std::int64_t times[] = {0, 1, INT64_MAX, INT64_MIN, -1, INT64_MAX - 1};
  constexpr std::uint64_t counts[] = {0, 1, UINT64_MAX};
  publication_meter sends;
  subscription_meter receives;
  for (const auto sampled : times)
    for (const auto sent_at : times)
      for (const auto sent : counts)
        for (const auto bytes : counts) {
          const publication_counters made{.sampled_ns = sampled,
                                          .age = std::chrono::milliseconds(UINT32_MAX),
                                          .sent = sent,
                                          .bytes = bytes,
                                          .dropped = bytes,
                                          .last_sent_ns = sent_at,
                                          .jitter_ns = INT64_MAX};
          sends.take(made);
          receives.take({.received = sent, .bytes = bytes, .missed = bytes, .sampled_ns = sampled});
          for (const auto& rate : {sends.rate_hz(), sends.bytes_per_s(), sends.dropped_per_s(), receives.rate_hz(),
                                   receives.bytes_per_s(), receives.missed_per_s()})
            if (rate) CHECK(*rate >= 0);
          CHECK(*sends.age() >= 0ns);
          CHECK(*age_of_newest(made) >= 0ns);
        }
}

TEST_CASE("view: what a subscription receives and misses in a second", "[unit]") {
  subscription_meter meter;
  meter.take({.received = 10, .bytes = 1'000, .missed = 3, .sampled_ns = s});
  CHECK_FALSE(meter.rate_hz());
  meter.take({.received = 210, .bytes = 21'000, .missed = 7, .sampled_ns = 3 * s});
  CHECK(meter.rate_hz() == 100);
  CHECK(meter.bytes_per_s() == 10'000);
  CHECK(meter.missed_per_s() == 2);
  meter.take({.received = 5, .bytes = 10, .missed = 0, .sampled_ns = 4 * s});
  CHECK_FALSE(meter.missed_per_s());
}
