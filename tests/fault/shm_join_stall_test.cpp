// Subscribers that join over shm need memory: who sends must not wait for it.
#include <algorithm>
#include <atomic>
#include <optional>
#include <thread>
#include <vector>

#include "orc.h"
#include "support/broker_process.h"
#include "support/catch.h"
#include "support/payload.h"
#include "support/wait_until.h"

using namespace orc::test;

namespace {

// Six subscribers join, one after the other, while a seventh takes each sample before the next is sent. Returns the
// longest send in ms.
std::int64_t longest_send_ms(const orc::topic_options& offer, std::size_t size) {
  broker_process address_broker;
  orc::participant sender(address_broker.options("sender"));
  REQUIRE(sender.register_topic("t", offer).result());
  auto publisher = sender.publisher("t");
  const bytes sample = patterned(size);
  REQUIRE(publisher.send(sample.data(), sample.size()));
  orc::participant receiver(address_broker.options("receiver"));
  const orc::request_options wish{.connected_within = patience, .transports = {orc::transport::shm}};
  REQUIRE(receiver.request_topic("t", wish).result());
  auto subscriber = receiver.subscriber("t");
  REQUIRE(subscriber.recv(patience_ms));

  std::atomic<bool> joined{false};
  std::atomic<int> count{0};
  std::vector<std::optional<orc::participant>> others(6);
  std::thread joins([&] {
    for (auto& each : others) {
      each.emplace(address_broker.options("other"));
      if (each->request_topic("t", wish).result()) ++count;
    }
    joined = true;
  });
  std::int64_t longest = 0;
  bool good = true;
  std::uint64_t sent = 0;
  while (good && (!joined || sent < 100)) {
    const auto start = std::chrono::steady_clock::now();
    good = static_cast<bool>(publisher.send(sample.data(), sample.size()));
    longest = std::max(longest, ms_since(start));
    good = good && subscriber.recv(patience_ms).size() == size;
    ++sent;
  }
  joins.join();
  CHECK(good);
  CHECK(count == 6);
  CHECK(publisher.readers() == 7);
  // Each has the last sample, whole.
  for (auto& each : others) CHECK(holds(each->recv_msg("t", patience_ms), sample));
  return longest;
}

}  // namespace

TEST_CASE("A1: subscribers that join do not hold up the sender of large samples in locked memory", "[fault][threads]") {
  if (under_sanitizer) return skip("sanitizers do not lock memory");
  // Without the right to lock it the memory is taken all the same, which is what takes long.
  CHECK(longest_send_ms({.transports = {orc::transport::shm}, .memory = {.lock = true}}, 8'000'000) < 400);
}

TEST_CASE("A1: subscribers that join get a long history of large samples, and the last sample", "[fault][threads]") {
  CHECK(longest_send_ms({.transports = {orc::transport::shm}, .history = 200}, 60'000) <
        (under_sanitizer ? 10'000 : 500));
}
