// contract.md 1: a receive returns the newest sample that has arrived, never an older one after a newer one, and the
// last sample of a stream reaches every reader, however it reads.
#include <atomic>
#include <random>
#include <thread>

#include "conformance/link.h"
#include "support/catch.h"
#include "support/payload.h"
#include "support/wait_until.h"

using namespace orc::test;

namespace {

enum class habit { blocks, polls, lags };
constexpr habit habits[] = {habit::blocks, habit::polls, habit::lags};

constexpr const char* name_of(habit h) { return h == habit::blocks ? "blocks" : h == habit::polls ? "polls" : "lags"; }

// Reads until `last` came; what it saw on the way is for the test to judge.
class reader {
 public:
  reader(orc::subscriber from, habit how, std::uint64_t last)
      : from_(std::move(from)), how_(how), last_(last), thread_([this] { run(); }) {}
  ~reader() { join(); }
  reader(const reader&) = delete;
  reader& operator=(const reader&) = delete;

  void join() {
    stop_ = true;
    if (thread_.joinable()) thread_.join();
  }
  [[nodiscard]] std::uint64_t seen() const { return seen_; }
  [[nodiscard]] std::uint64_t older_after_newer() const { return older_; }
  [[nodiscard]] std::uint64_t wrong() const { return wrong_; }

 private:
  void run() {
    std::minstd_rand random(static_cast<unsigned>(last_));
    while (seen_ < last_ && !stop_) {
      const auto got = how_ == habit::polls ? from_.recv(0) : from_.recv(100);
      if (!got) {
        if (how_ == habit::polls) std::this_thread::yield();
        continue;
      }
      const std::uint64_t value = value_of(got);
      if (value <= seen_) ++older_;
      if (value != got.sequence()) ++wrong_;
      seen_ = value;
      if (how_ == habit::lags) work_for(std::chrono::microseconds(random() % 200));
    }
  }

  orc::subscriber from_;
  const habit how_;
  const std::uint64_t last_;
  std::atomic<std::uint64_t> seen_{0};
  std::atomic<std::uint64_t> older_{0};
  std::atomic<std::uint64_t> wrong_{0};
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

struct burst_size {
  std::uint64_t samples;
  std::size_t usual;
  std::size_t full;
};
// Two-sample bursts are where a one-deep queue with a race loses the newest; see stock_conflate_test.cpp.
constexpr burst_size burst_sizes[] = {{2, 6000, 60'000}, {3, 3000, 30'000}, {10, 2000, 20'000}, {100, 300, 5000}};

}  // namespace

TEMPLATE_TEST_CASE("newest wins: the last of every burst arrives, for readers that block, poll and lag",
                   "[conformance][threads]", ORC_TEST_TRANSPORTS) {
  linked<TestType> l;
  std::uint64_t value = 0;
  for (const burst_size& burst : burst_sizes) {
    for (const habit how : habits) {
      INFO("bursts of " << burst.samples << ", a reader that " << name_of(how));
      const std::size_t bursts = rounds(burst.usual, burst.full) / 3;
      reader r(l.subscriber, how, value + burst.samples * bursts);
      for (std::size_t n = 0; n < bursts; ++n) {
        for (std::uint64_t k = 0; k < burst.samples; ++k) REQUIRE(send_value(l.publisher, ++value));
        if (r.seen() == value) continue;
        REQUIRE(wait_until([&] { return r.seen() == value; }));
      }
      r.join();
      REQUIRE(r.older_after_newer() == 0);
      REQUIRE(r.wrong() == 0);
    }
  }
}

TEMPLATE_TEST_CASE("newest wins: under a stream without pauses the order holds and the last sample arrives",
                   "[conformance][threads]", ORC_TEST_TRANSPORTS) {
  linked<TestType> l;
  std::vector<std::unique_ptr<extra_reader<TestType>>> more;
  for (int n = 0; n < 2; ++n) more.push_back(std::make_unique<extra_reader<TestType>>(l.address_broker));
  const std::uint64_t last = rounds(200'000, 5'000'000);
  {
    reader blocks(l.subscriber, habit::blocks, last);
    reader polls(more[0]->subscriber, habit::polls, last);
    reader lags(more[1]->subscriber, habit::lags, last);
    for (std::uint64_t value = 1; value <= last; ++value) REQUIRE(send_value(l.publisher, value));
    for (reader* r : {&blocks, &polls, &lags}) {
      CHECK(wait_until([&] { return r->seen() == last; }));
      CHECK(r->older_after_newer() == 0);
      CHECK(r->wrong() == 0);
    }
  }
}

TEMPLATE_TEST_CASE("newest wins: bursts of large samples, too", "[conformance][threads]", ORC_TEST_TRANSPORTS) {
  linked<TestType> l;
  bytes sample = patterned(300'000);
  const std::size_t bursts = rounds(100, 2000);
  reader r(l.subscriber, habit::lags, 5 * bursts);
  for (std::uint64_t value = 0, n = 0; n < bursts; ++n) {
    for (int k = 0; k < 5; ++k) {
      ++value;
      std::memcpy(sample.data(), &value, sizeof value);
      REQUIRE(l.publisher.send(sample.data(), sample.size()));
    }
    REQUIRE(wait_until([&] { return r.seen() == value; }));
  }
  CHECK(r.older_after_newer() == 0);
}

TEMPLATE_TEST_CASE("newest wins: a receive after a long absence returns the newest, at once", "[conformance][threads]",
                   ORC_TEST_TRANSPORTS) {
  linked<TestType> l;
  orc::request_options witness = wanted<TestType>();
  extra_reader<TestType> present(l.address_broker, witness);
  std::uint64_t value = 0;
  for (std::size_t absence = 0; absence < rounds(20, 200); ++absence) {
    for (int n = 0; n < 1000; ++n) REQUIRE(send_value(l.publisher, ++value));
    // When somebody else has the last sample it may still be on its way to the one who was away: it must come, and
    // nothing older after something newer.
    while (true) {
      const auto got = present.subscriber.recv(patience_ms);
      REQUIRE(got);
      if (value_of(got) == value) break;
    }
    std::uint64_t seen = 0;
    while (seen != value) {
      const auto got = l.subscriber.recv(patience_ms);
      REQUIRE(got);
      REQUIRE(value_of(got) > seen);
      seen = value_of(got);
    }
  }
}

TEMPLATE_TEST_CASE("newest wins: a slow reader does not make another one's samples older", "[conformance][threads]",
                   ORC_TEST_TRANSPORTS) {
  linked<TestType> l;  // its subscriber never reads
  extra_reader<TestType> quick(l.address_broker);
  for (std::uint64_t value = 1; value <= rounds(5000, 100'000); ++value) {
    REQUIRE(send_value(l.publisher, value));
    const auto got = quick.subscriber.recv(patience_ms);
    REQUIRE(got);
    REQUIRE(value_of(got) == value);
  }
}
