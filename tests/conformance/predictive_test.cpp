// Predictive waiting: the samples are the same as with any other wait, and those of a periodic stream find a thread
// that watches for them.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>
#include <vector>

#include "conformance/link.h"
#include "support/catch.h"
#include "support/payload.h"

using namespace orc::test;
using steady = std::chrono::steady_clock;
using namespace std::chrono_literals;

namespace {

template <class Transport>
orc::request_options predictive(int conflate = 1, std::size_t depth = 0) {
  auto options = wanted<Transport>(conflate, depth);
  options.wait = orc::wait::predictive;
  options.cpu_budget = 0.5;  // a loaded machine lets a stream jitter
  return options;
}

// Sends a value each period until it is destroyed.
class stream {
 public:
  stream(orc::publisher to, std::chrono::microseconds period)
      : thread_([this, to = std::move(to), period]() mutable {
          auto at = steady::now();
          for (std::uint64_t value = 1; !stop_; ++value) {
            if (!send_value(to, value)) return;
            at = std::max(at + period, steady::now());
            std::this_thread::sleep_until(at);
          }
        }) {}
  ~stream() {
    stop_ = true;
    thread_.join();
  }
  stream(const stream&) = delete;
  stream& operator=(const stream&) = delete;

 private:
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

}  // namespace

TEMPLATE_TEST_CASE("predictive: samples of a stream with a period come while a receive watches",
                   "[conformance][threads]", ORC_TEST_TRANSPORTS) {
  linked<TestType> l(predictive<TestType>());
  const stream source(l.publisher, 5ms);
  std::uint64_t last = 0;
  const auto end = steady::now() + patience;
  while (l.subscriber.link().prediction.hits < 20 && steady::now() < end) {
    const auto got = l.subscriber.recv(patience_ms);
    REQUIRE(got);
    REQUIRE(value_of(got) > last);
    last = value_of(got);
  }
  const auto seen = l.subscriber.link().prediction;
  CHECK(seen.hits >= 20);
  CHECK(seen.period_ns > 0);
  CHECK(seen.watched_ns > 0);
}

TEMPLATE_TEST_CASE("predictive: in order, every sample arrives, whatever the stream does", "[conformance][threads]",
                   ORC_TEST_TRANSPORTS) {
  linked<TestType> l(predictive<TestType>(0, 1'000));
  std::thread source([&] {
    std::uint64_t value = 0;
    const auto send = [&] { return send_value(l.publisher, ++value); };
    for (int n = 0; n < 60; ++n, std::this_thread::sleep_for(2ms)) CHECK(send());
    for (int n = 0; n < 60; ++n, std::this_thread::sleep_for(500us)) CHECK(send());
    for (int burst = 0; burst < 10; ++burst, std::this_thread::sleep_for(5ms))
      for (int n = 0; n < 5; ++n) CHECK(send());
    for (int n = 0; n < 30; ++n, std::this_thread::sleep_for(2ms)) CHECK(send());
    std::this_thread::sleep_for(100ms);
    for (int n = 0; n < 60; ++n, std::this_thread::sleep_for(2ms)) CHECK(send());
  });
  for (std::uint64_t value = 1; value <= 260; ++value) {
    const auto got = l.subscriber.recv_next(patience_ms);
    CHECK(value_of(got) == value);
    if (!got) break;
  }
  source.join();
  CHECK(l.subscriber.recv(0).status() == orc::errc::nothing_new);
}

TEMPLATE_TEST_CASE("predictive: of several threads that wait, each sample goes to one", "[conformance][threads]",
                   ORC_TEST_TRANSPORTS) {
  linked<TestType> l(predictive<TestType>(0, 1'000));
  constexpr std::uint64_t all = 300;
  std::atomic<std::uint64_t> received{0};
  std::atomic<std::uint64_t> sum{0};
  std::vector<std::thread> users;
  for (int n = 0; n < 3; ++n) {
    users.emplace_back([&] {
      while (const auto got = l.subscriber.recv_next(patience_ms)) {
        if (value_of(got) > all) return;
        sum += value_of(got);
        ++received;
      }
    });
  }
  for (std::uint64_t value = 1; value <= all; ++value, std::this_thread::sleep_for(1ms))
    REQUIRE(send_value(l.publisher, value));
  for (std::uint64_t end = 1; end <= 3; ++end) REQUIRE(send_value(l.publisher, all + end));
  for (auto& each : users) each.join();
  CHECK(received == all);
  CHECK(sum == all * (all + 1) / 2);
}

TEMPLATE_TEST_CASE("predictive: the topic that is released ends a sleep, and a watch", "[conformance][threads]",
                   ORC_TEST_TRANSPORTS) {
  for (int round = 0; round < 5; ++round) {
    linked<TestType> l(predictive<TestType>());
    std::atomic<orc::errc> status{orc::errc::ok};
    {
      const stream source(l.publisher, 2ms);
      for (int n = 0; n < 40; ++n) REQUIRE(l.subscriber.recv(patience_ms));
    }
    std::thread user([&] {
      orc::message got;
      do got = l.subscriber.recv(-1);
      while (got);
      status = got.status();
    });
    std::this_thread::sleep_for(std::chrono::microseconds(700) * round);
    CHECK(l.receiver.release_topic(l.topic));
    user.join();
    CHECK(status == orc::errc::closed);
  }
}
