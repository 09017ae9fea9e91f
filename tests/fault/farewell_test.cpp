// contract.md 1 and 2 at the end of a publication: its last sample arrives, and nobody waits long for those who stand
// still.
#include <string>

#include "orc.h"
#include "support/broker_process.h"
#include "support/catch.h"
#include "support/payload.h"
#include "support/test_node.h"
#include "support/wait_until.h"

using namespace orc::test;

TEST_CASE("regression: a reader gets the last sample of a topic that ends, beside one that is stopped",
          "[fault][threads]") {
  for (const auto kind : {orc::transport::ipc, orc::transport::tcp}) {
    INFO(orc::to_string(kind));
    broker_process address_broker;
    auto sender = std::make_unique<orc::participant>(address_broker.options("sender"));
    REQUIRE(sender->register_topic("t", {.transports = {kind}}).result());
    test_node stopped;  // joins first, so it is served first
    stopped.must("open " + address_broker.endpoint());
    stopped.must("request t any 1 64 " + std::to_string(patience_ms));
    orc::participant receiver(address_broker.options("receiver"));
    REQUIRE(receiver.request_topic("t", {.connected_within = patience}).result());
    stopped.process().freeze();
    const std::string last(under_sanitizer ? 2'000'000 : 10'000'000, 'l');
    REQUIRE(sender->send_msg("t", last.data(), last.size()));
    std::jthread ending([&] {
      static_cast<void>(sender->unregister_topic("t"));
      sender.reset();
    });
    const auto got = receiver.recv_msg("t", patience_ms);
    CHECK(got.size() == last.size());
    ending.join();
    stopped.process().thaw();
  }
}

TEST_CASE("regression: a participant with many topics and a stopped reader ends within seconds, not one by one",
          "[fault][threads]") {
  constexpr int topics = 40;
  broker_process address_broker;
  auto sender = std::make_unique<orc::participant>(address_broker.options("sender"));
  test_node stopped;
  stopped.must("open " + address_broker.endpoint());
  for (int n = 0; n < topics; ++n) {
    const std::string topic = "t" + std::to_string(n);
    REQUIRE(sender->register_topic(topic).result());
    stopped.must("request " + topic + " any 1 64 " + std::to_string(patience_ms));
  }
  stopped.process().freeze();
  const std::string large(5'000'000, 'x');
  for (int n = 0; n < topics; ++n) REQUIRE(sender->send_msg("t" + std::to_string(n), large.data(), large.size()));
  const auto start = std::chrono::steady_clock::now();
  sender.reset();
  CHECK(ms_since(start) < (under_sanitizer ? 9000 : 4000));  // one by one: 12 s
  stopped.process().thaw();
}
