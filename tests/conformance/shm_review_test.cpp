// Shared memory: what went wrong once, by name.
#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

#include "conformance/link.h"
#include "support/catch.h"
#include "support/payload.h"
#include "support/wait_until.h"

using namespace orc::test;

namespace {

orc::request_options looking(int spin_us) {
  auto options = wanted<shm>();
  options.spin = std::chrono::microseconds(spin_us);
  return options;
}

}  // namespace

TEST_CASE("shm: a topic that is released while a receive looks ends its wait", "[conformance][threads]") {
  // The look ends by time while the release has the lock: then the receive must not sleep on the old link.
  for (std::size_t round = 0; round < rounds(100, 1000, 20); ++round) {
    linked<shm> l(looking(static_cast<int>(50 + round % 150)));
    std::atomic<bool> waiting{false};
    std::atomic<orc::errc> status{orc::errc::ok};
    std::thread reader([&] {
      waiting = true;
      status = l.subscriber.recv(-1).status();
    });
    CHECK(wait_until([&] { return waiting.load(); }));
    work_for(std::chrono::microseconds(round * 7 % 300));
    CHECK(l.receiver.release_topic(l.topic));
    reader.join();
    REQUIRE(status == orc::errc::closed);
  }
}

TEST_CASE("shm: an expected size that no memory has is refused", "[conformance][threads]") {
  broker_process address_broker;
  orc::participant sender(address_broker.options());
  for (const std::size_t size : {SIZE_MAX, SIZE_MAX - 999, std::size_t{1} << 40}) {
    auto options = offered<shm>();
    options.expected_size = size;
    CHECK(sender.register_topic("too/large", options).result().code() == orc::errc::bad_argument);
  }
}

TEST_CASE("shm: who holds all the messages he may gets the last sample of a publisher that leaves",
          "[conformance][threads]") {
  auto options = wanted<shm>();
  options.max_messages = 2;
  linked<shm> l(options);
  std::vector<orc::message> held;
  std::uint64_t value = 0;
  for (;;) {
    REQUIRE(send_value(l.publisher, ++value));
    auto got = l.subscriber.recv(patience_ms);
    if (got.status() == orc::errc::too_many_messages) break;
    REQUIRE(got);
    held.push_back(std::move(got));
  }
  REQUIRE(l.sender.unregister_topic(l.topic));
  REQUIRE(wait_until([&] { return !l.subscriber.connected(); }));
  orc::message last;
  CHECK(wait_until([&] { return static_cast<bool>(last = l.subscriber.recv(0)); }));
  CHECK(value_of(last) == value);
  for (std::size_t n = 0; n < held.size(); ++n) CHECK(value_of(held[n]) == n + 1);
}
