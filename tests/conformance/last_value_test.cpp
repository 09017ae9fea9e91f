// contract.md 7: order does not matter, and a late subscriber gets the current last sample at once.
#include <atomic>
#include <thread>

#include "conformance/link.h"
#include "support/catch.h"
#include "support/payload.h"
#include "support/wait_until.h"

using namespace orc::test;

TEMPLATE_TEST_CASE("last value: a late subscriber gets the last sample, once", "[conformance][threads]",
                   ORC_TEST_TRANSPORTS) {
  broker_process address_broker;
  orc::participant sender(address_broker.options());
  REQUIRE(sender.register_topic("late", offered<TestType>()));
  for (const char text : {'a', 'b', 'c'}) REQUIRE(sender.send_msg("late", &text, 1));
  for (int n = 0; n < 5; ++n) {
    orc::participant receiver(address_broker.options());
    REQUIRE(receiver.request_topic("late", wanted<TestType>()).result());
    const auto got = receiver.recv_msg("late", patience_ms);
    REQUIRE(got);
    CHECK(*static_cast<const char*>(got.data()) == 'c');
    CHECK(got.sequence() == 3);
    CHECK(got.missed() == 0);  // what was sent before it asked is not missed
    CHECK(!receiver.recv_msg("late", 50));
  }
}

TEMPLATE_TEST_CASE("last value: after connected_within a poll soon has the last sample", "[conformance][threads]",
                   ORC_TEST_TRANSPORTS) {
  broker_process address_broker;
  orc::participant sender(address_broker.options());
  REQUIRE(sender.register_topic("late", offered<TestType>()));
  const bytes large = patterned(1'000'000);
  REQUIRE(sender.send_msg("late", large.data(), large.size()));
  orc::participant receiver(address_broker.options());
  REQUIRE(receiver.request_topic("late", wanted<TestType>()).result());
  orc::message got;
  CHECK(wait_until([&] { return static_cast<bool>(got = receiver.recv_msg("late", 0)); }));
  CHECK(holds(got, large));
}

TEMPLATE_TEST_CASE("last value: an in-order reader that joins late begins with the last sample",
                   "[conformance][threads]", ORC_TEST_TRANSPORTS) {
  broker_process address_broker;
  orc::participant sender(address_broker.options());
  REQUIRE(sender.register_topic("late", offered<TestType>()));
  auto publisher = sender.publisher("late");
  for (std::uint64_t value = 1; value <= 10; ++value) REQUIRE(send_value(publisher, value));
  orc::participant receiver(address_broker.options());
  REQUIRE(receiver.request_topic("late", wanted<TestType>(0, 16)).result());
  for (std::uint64_t value = 11; value <= 15; ++value) REQUIRE(send_value(publisher, value));
  for (std::uint64_t value = 10; value <= 15; ++value) {
    const auto got = receiver.recv_msg("late", patience_ms);
    REQUIRE(got);
    CHECK(value_of(got) == value);
    CHECK(got.missed() == 0);
  }
}

TEMPLATE_TEST_CASE("order: a topic can be requested before it is registered", "[conformance][threads]",
                   ORC_TEST_TRANSPORTS) {
  broker_process address_broker;
  orc::participant receiver(address_broker.options());
  REQUIRE(receiver.request_topic("early", wanted<TestType>(1, 0, 0)).result());
  auto subscriber = receiver.subscriber("early");
  CHECK(!subscriber.connected());
  CHECK(subscriber.recv(0).status() == orc::errc::nothing_new);
  CHECK(subscriber.wait_connected(20).code() == orc::errc::timed_out);
  CHECK(!subscriber.link().connected);

  std::atomic<std::uint64_t> seen{0};
  std::thread waiting([&] { seen = value_of(subscriber.recv(patience_ms)); });
  orc::participant sender(address_broker.options());
  CHECK(sender.register_topic("early", offered<TestType>()));
  auto publisher = sender.publisher("early");
  CHECK(send_value(publisher, 99));
  waiting.join();
  CHECK(seen == 99);
  CHECK(subscriber.wait_connected(patience_ms));
  CHECK(subscriber.link().transport == TestType::kind);
}

TEMPLATE_TEST_CASE("order: connected_within says timed_out when nobody publishes, and the request stays",
                   "[conformance][threads]", ORC_TEST_TRANSPORTS) {
  broker_process address_broker;
  orc::participant receiver(address_broker.options());
  const auto nobody = receiver.request_topic("nobody/yet", wanted<TestType>(1, 0, 50)).result();
  CHECK(nobody.code() == orc::errc::timed_out);
  CHECK(nobody.error().message().find("nobody/yet") != std::string::npos);
  orc::participant sender(address_broker.options());
  REQUIRE(sender.register_topic("nobody/yet", offered<TestType>()));
  auto publisher = sender.publisher("nobody/yet");
  REQUIRE(send_value(publisher, 5));
  const auto got = receiver.recv_msg("nobody/yet", patience_ms);
  REQUIRE(got);
  CHECK(value_of(got) == 5);
}

TEMPLATE_TEST_CASE("order: samples sent while nobody listens are no samples missed later", "[conformance][threads]",
                   ORC_TEST_TRANSPORTS) {
  broker_process address_broker;
  orc::participant sender(address_broker.options());
  REQUIRE(sender.register_topic("alone", offered<TestType>()));
  auto publisher = sender.publisher("alone");
  CHECK(publisher.readers() == 0);
  for (std::uint64_t value = 1; value <= 10'000; ++value) REQUIRE(send_value(publisher, value));
  orc::participant receiver(address_broker.options());
  REQUIRE(receiver.request_topic("alone", wanted<TestType>()).result());
  auto got = receiver.recv_msg("alone", patience_ms);
  REQUIRE(got);
  CHECK(value_of(got) == 10'000);
  CHECK(got.missed() == 0);
  REQUIRE(send_value(publisher, 10'001));
  got = receiver.recv_msg("alone", patience_ms);
  REQUIRE(got);
  CHECK(got.sequence() == 10'001);
  CHECK(got.missed() == 0);
}
