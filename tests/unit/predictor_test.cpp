// When to watch for the next sample of a stream, learned from made-up arrivals.
#include "core/subscription/predictor.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "support/catch.h"

using orc::detail::predictor;

namespace {

constexpr std::int64_t us = 1'000;
constexpr std::int64_t ms = 1'000 * us;

// Of each call another one.
class made_up_numbers {
 public:
  explicit made_up_numbers(std::uint32_t seed) : last_(seed) {}
  [[nodiscard]] std::int64_t below(std::int64_t end) {
    last_ = last_ * 1'664'525 + 1'013'904'223;
    return static_cast<std::int64_t>(last_ >> 8) % end;
  }

 private:
  std::uint32_t last_;
};

// A publisher and a receiver that waits for each sample, on two clocks that differ by a constant.
struct fixture {
  explicit fixture(double share = 0.1) : tested(share) {}

  // The receiver waits, and the sample arrives `after` the one before. Returns how it was found.
  predictor::found wait_for_sample(std::int64_t after, std::int64_t late_ns = 0) {
    const auto window = tested.next();
    stamp += after;
    const std::int64_t arrival = stamp + behind + travel;
    auto how = predictor::found::asleep;
    if (window && arrival >= window->from) {
      tested.overslept(late_ns);
      const std::int64_t awake = window->from + late_ns;
      if (arrival >= awake && awake < window->to) {
        const bool in_vain = arrival > window->to;
        tested.watched(std::min(arrival, window->to) - awake, in_vain);
        if (in_vain)
          CHECK_FALSE(tested.next());  // sleeps until the sample comes
        else
          how = predictor::found::watching;
      }
    }
    tested.arrived(++sequence, stamp, arrival + (how == predictor::found::asleep ? wake_up : 0), how);
    return how;
  }
  int hits_of(int samples, std::int64_t period) {
    int hits = 0;
    for (int n = 0; n < samples; ++n) hits += wait_for_sample(period) == predictor::found::watching ? 1 : 0;
    return hits;
  }
  // In ns.
  [[nodiscard]] std::int64_t watched() const { return static_cast<std::int64_t>(tested.figures().watched_ns); }

  predictor tested;
  std::uint64_t sequence = 0;
  std::int64_t stamp = 1'700'000'000'000 * ms;
  std::int64_t behind = 0;  // what the receiver's clock is ahead
  std::int64_t travel = 3 * us;
  std::int64_t wake_up = 30 * us;
  std::int64_t before = 0;  // jitter of the last sample
};

}  // namespace

TEST_CASE("predictor: a stream with a period is found, and nearly each sample seen coming", "[unit]") {
  const auto period = GENERATE(1 * ms, 10 * ms, 500 * ms);
  const auto behind = GENERATE(std::int64_t{0}, -3'600'000 * ms, 17 * ms);
  fixture f;
  f.behind = behind;
  CHECK(f.hits_of(32, period) == 0);
  CHECK(f.hits_of(100, period) >= 98);
  const auto seen = f.tested.figures();
  CHECK(seen.period_ns == period);
  CHECK(seen.hits + seen.early + seen.misses <= 100);
  CHECK(f.watched() <= 100 * period / 10);
}

TEST_CASE("predictor: a stream of 10 kHz is found when the thread wakes in time for it", "[unit]") {
  fixture f;
  f.hits_of(200, 100 * us);
  CHECK(f.hits_of(100, 100 * us) >= 95);
  CHECK(f.watched() <= 300 * 100 * us / 10);
}

TEST_CASE("predictor: it does not watch in a stream whose period varies by more than it may cost", "[unit]") {
  fixture f;
  std::uint32_t random = 1;
  int hits = 0;
  for (int n = 0; n < 2'000; ++n) {
    random = random * 1'664'525 + 1'013'904'223;
    hits += f.wait_for_sample(ms + static_cast<std::int64_t>(random >> 8) % (600 * us) - 300 * us) ==
                    predictor::found::watching
                ? 1
                : 0;
  }
  CHECK(hits < 20);
  CHECK(f.watched() <= 2'000 * ms / 100);
}

TEST_CASE("predictor: watching costs no more than its share of a core", "[unit]") {
  const auto share = GENERATE(0.01, 0.05, 0.1, 0.5);
  fixture f(share);
  std::uint32_t random = 7;
  for (int n = 0; n < 5'000; ++n) {
    random = random * 1'664'525 + 1'013'904'223;
    f.wait_for_sample(ms + static_cast<std::int64_t>(random >> 8) % (40 * us), static_cast<std::int64_t>(random >> 28));
  }
  CHECK(static_cast<double>(f.watched()) <= 1.2 * share * 5'000 * static_cast<double>(ms));
}

TEST_CASE("predictor: a stream that stops is watched for once, and again when it is back", "[unit]") {
  fixture f;
  f.hits_of(50, ms);
  const auto before = f.tested.figures();
  CHECK(f.wait_for_sample(5'000 * ms) == predictor::found::asleep);
  CHECK(f.tested.figures().misses == before.misses + 1);
  CHECK(f.hits_of(100, ms) >= 60);
}

TEST_CASE("predictor: a new period is learned", "[unit]") {
  fixture f;
  f.hits_of(50, ms);
  f.hits_of(60, 3 * ms);
  CHECK(f.hits_of(50, 3 * ms) >= 45);
  CHECK(f.tested.figures().period_ns == 3 * ms);
}

TEST_CASE("predictor: samples that were lost or passed over do not change the period", "[unit]") {
  fixture f;
  f.hits_of(50, ms);
  for (int n = 0; n < 20; ++n) {
    f.sequence += 2;
    f.wait_for_sample(3 * ms);
    CHECK(f.wait_for_sample(ms) == predictor::found::watching);
  }
  CHECK(f.tested.figures().period_ns == ms);
}

TEST_CASE("predictor: one late wake-up costs one sample, and more of them a longer watch", "[unit]") {
  fixture f;
  f.hits_of(100, ms);
  CHECK(f.wait_for_sample(ms, 200 * us) == predictor::found::asleep);
  CHECK(f.hits_of(50, ms) >= 48);
  int early = 0;
  for (int n = 0; n < 100; ++n) early += f.wait_for_sample(ms, 20 * us) == predictor::found::asleep ? 1 : 0;
  CHECK(early < 20);
}

// A lead is no cost: most of it is the sleep that ends late.
TEST_CASE("predictor: where timers end late, it watches as long as the budget allows on average", "[unit]") {
  const auto late = GENERATE(60 * us, 120 * us, 300 * us);
  fixture f;
  f.wake_up = late;
  made_up_numbers random(5);
  const auto hits_of = [&](int samples) {
    int hits = 0;
    for (int n = 0; n < samples; ++n) {
      const std::int64_t more = random.below(60 * us) + (n % 50 == 7 ? 400 * us : 0);
      const std::int64_t jitter = random.below(10 * us);
      hits +=
          f.wait_for_sample(ms + jitter - std::exchange(f.before, jitter), late + more) == predictor::found::watching;
    }
    return hits;
  };
  hits_of(200);
  const auto before = f.tested.figures();
  const int hits = hits_of(2'000);
  const auto after = f.tested.figures();
  CHECK(hits >= 1'800);
  CHECK(f.tested.why_not().empty());
  CHECK(after.hits - before.hits == static_cast<std::uint64_t>(hits));
  CHECK(static_cast<std::int64_t>(after.watched_ns - before.watched_ns) <= 2'000 * ms / 10);
}

TEST_CASE("predictor: of a stream with jitter it sees as many samples as the budget allows", "[unit]") {
  fixture f;
  made_up_numbers random(9);
  int hits = 0;
  for (int n = 0; n < 2'000; ++n) {
    const std::int64_t jitter = random.below(200 * us);
    hits += f.wait_for_sample(ms + jitter - std::exchange(f.before, jitter)) == predictor::found::watching;
  }
  CHECK(hits >= 1'200);
  CHECK(f.watched() <= 2'000 * ms / 10);
}

TEST_CASE("predictor: a sample that came during a sleep that ended late is no hit", "[unit]") {
  fixture f;
  REQUIRE(f.hits_of(100, ms) > 60);
  const auto before = f.tested.figures();
  CHECK(f.wait_for_sample(ms, 500 * us) == predictor::found::asleep);
  CHECK(f.tested.figures().hits == before.hits);
  CHECK(f.tested.figures().early == before.early + 1);
}

TEST_CASE("predictor: it says why it does not watch", "[unit]") {
  fixture f;
  CHECK(f.tested.why_not() == "the stream has no known period");
  f.hits_of(100, ms);
  CHECK(f.tested.why_not().empty());
  made_up_numbers random(11);
  for (int n = 0; n < 100; ++n) f.wait_for_sample(ms + random.below(900 * us) - 450 * us);
  CHECK(f.tested.why_not().find(" of a core, and cpu_budget allows 10.0 %") != std::string::npos);
}

TEST_CASE("predictor: a clock that is set costs some samples, not the rest of the stream", "[unit]") {
  const auto step = GENERATE(-3'600'000 * ms, -40 * ms, 40 * ms, 3'600'000 * ms);
  fixture f;
  f.hits_of(100, ms);
  f.behind += step;
  f.hits_of(40, ms);
  CHECK(f.hits_of(100, ms) >= 90);
}

TEST_CASE("predictor: a publisher that starts anew is learned anew", "[unit]") {
  fixture f;
  f.hits_of(100, ms);
  f.sequence = 0;
  f.hits_of(35, 2 * ms);
  CHECK(f.hits_of(50, 2 * ms) >= 45);
  CHECK(f.tested.figures().period_ns == 2 * ms);
}

TEST_CASE("predictor: no stamp makes it watch for long, or overflow", "[unit]") {
  constexpr std::int64_t stamps[] = {std::numeric_limits<std::int64_t>::min(),
                                     std::numeric_limits<std::int64_t>::max(),
                                     0,
                                     -1,
                                     1,
                                     1'700'000'000'000 * ms,
                                     1'700'000'000'000 * ms + 1};
  const std::int64_t now = 1'700'000'000'000 * ms;
  predictor tested(1);
  std::uint32_t random = 3;
  for (std::uint64_t n = 1; n < 20'000; ++n) {
    random = random * 1'664'525 + 1'013'904'223;
    const auto how = static_cast<predictor::found>((random >> 16) % 3);
    tested.arrived(random % 5 == 0 ? random : n, stamps[(random >> 20) % 7], now + static_cast<std::int64_t>(n), how);
    if (const auto window = tested.next()) {
      CHECK(window->to - window->from <= 2'000 * ms);
      tested.watched(window->to - window->from, random % 2 == 0);
    }
  }
  for (int n = 0; n < 200; ++n) {  // and a stream as usual is found afterwards
    (void)tested.next();
    tested.arrived(100'000 + static_cast<std::uint64_t>(n), now + n * ms, now + n * ms + 3 * us,
                   predictor::found::asleep);
  }
  (void)tested.next();
  CHECK(tested.figures().period_ns == ms);
}

// UndefinedBehaviorSanitizer sees it.
TEST_CASE("predictor: a stamp that is centuries old does not overflow once the travel is known", "[unit]") {
  fixture f;
  f.behind = -3'600'000 * ms;  // so that the travel is negative
  REQUIRE(f.hits_of(100, ms) > 0);
  const std::int64_t now = f.stamp + f.behind + ms;
  const std::int64_t stamp = now - (std::numeric_limits<std::int64_t>::max() - ms);
  f.tested.arrived(++f.sequence, stamp, now, predictor::found::watching);
  CHECK_FALSE(f.tested.next());
  CHECK(f.tested.figures().period_ns == 0);
}
