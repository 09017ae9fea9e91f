// Commands: a topic that keeps no last sample, and a request that drops old samples. On every transport.
#include "conformance/link.h"
#include "support/catch.h"
#include "support/payload.h"
#include "support/wait_until.h"

using namespace orc::test;

namespace {

template <class Transport>
orc::topic_options without_last() {
  auto options = offered<Transport>();
  options.keep_last = false;
  return options;
}

template <class Transport>
orc::request_options not_older_than(int max_age_ms, int conflate = 1) {
  auto options = conflate == 1 ? wanted<Transport>() : wanted<Transport>(0, 16);
  options.max_age = std::chrono::milliseconds(max_age_ms);
  return options;
}

// What was sent so far is at least this old afterwards.
void grow_older_by(int ms) {
  const auto start = std::chrono::steady_clock::now();
  REQUIRE(wait_until([&] { return ms_since(start) > ms; }));
}

}  // namespace

TEMPLATE_TEST_CASE("keep_last = false: one that joins late gets only what is sent from then on",
                   "[conformance][threads]", ORC_TEST_TRANSPORTS) {
  broker_process address_broker;
  orc::participant sender(address_broker.options());
  REQUIRE(sender.register_topic("command", without_last<TestType>()));
  auto publisher = sender.publisher("command");
  orc::participant first(address_broker.options());
  REQUIRE(first.request_topic("command", wanted<TestType>()).result());
  REQUIRE(wait_until([&] { return publisher.readers() == 1; }));
  REQUIRE(send_value(publisher, 1));
  CHECK(value_of(first.recv_msg("command", patience_ms)) == 1);
  for (const int conflate : {1, 0}) {
    orc::participant late(address_broker.options());
    REQUIRE(late.request_topic("command", wanted<TestType>(conflate, conflate == 0 ? 16 : 0)).result());
    REQUIRE(wait_until([&] { return publisher.readers() == 2; }));
    CHECK(!late.recv_msg("command", 50));
    REQUIRE(send_value(publisher, 7));
    const auto got = late.recv_msg("command", patience_ms);
    CHECK(value_of(got) == 7);
    CHECK(got.missed() == 0);
    REQUIRE(late.release_topic("command"));
    REQUIRE(wait_until([&] { return publisher.readers() == 1; }));
  }
}

TEMPLATE_TEST_CASE("keep_last = false: samples sent before anybody listened are for nobody", "[conformance][threads]",
                   ORC_TEST_TRANSPORTS) {
  broker_process address_broker;
  orc::participant sender(address_broker.options());
  REQUIRE(sender.register_topic("command", without_last<TestType>()));
  auto publisher = sender.publisher("command");
  for (std::uint64_t value = 1; value <= 5; ++value) REQUIRE(send_value(publisher, value));
  orc::participant late(address_broker.options());
  REQUIRE(late.request_topic("command", wanted<TestType>()).result());
  REQUIRE(wait_until([&] { return publisher.readers() == 1; }));
  CHECK(!late.recv_msg("command", 50));
  REQUIRE(send_value(publisher, 6));
  const auto got = late.recv_msg("command", patience_ms);
  CHECK(value_of(got) == 6);
  CHECK(got.sequence() == 6);
  CHECK(got.missed() == 0);
}

TEMPLATE_TEST_CASE("keep_last = false: a connected reader that lags gets the newest", "[conformance][threads]",
                   ORC_TEST_TRANSPORTS) {
  broker_process address_broker;
  orc::participant sender(address_broker.options());
  REQUIRE(sender.register_topic("command", without_last<TestType>()));
  auto publisher = sender.publisher("command");
  orc::participant receiver(address_broker.options());
  REQUIRE(receiver.request_topic("command", wanted<TestType>()).result());
  REQUIRE(wait_until([&] { return publisher.readers() == 1; }));
  // Far more than any transport holds.
  bytes large = patterned(100'000);
  constexpr int count = 300;
  for (int n = 1; n <= count; ++n) {
    large.front() = static_cast<unsigned char>(n % 251);
    REQUIRE(publisher.send(large.data(), large.size()));
  }
  orc::message got;
  REQUIRE(wait_until([&] {
    if (auto next = receiver.recv_msg("command", 10)) got = std::move(next);
    return got && got.sequence() == count;
  }));
  CHECK(holds(got, large));
}

TEMPLATE_TEST_CASE("max_age: an old last sample is dropped and counted, the next one comes", "[conformance][threads]",
                   ORC_TEST_TRANSPORTS) {
  if (!TestType::carries_stamps) return;
  broker_process address_broker;
  orc::participant sender(address_broker.options());
  REQUIRE(sender.register_topic("command", offered<TestType>()));
  auto publisher = sender.publisher("command");
  REQUIRE(send_value(publisher, 1));
  grow_older_by(300);
  for (const int conflate : {1, 0}) {
    orc::participant late(address_broker.options());
    REQUIRE(late.request_topic("command", not_older_than<TestType>(250, conflate)).result());
    auto subscriber = late.subscriber("command");
    CHECK(wait_until([&] { return !subscriber.recv(0) && subscriber.link().stale == 1; }));
    CHECK(subscriber.recv(0).status() == orc::errc::nothing_new);
    CHECK(subscriber.recv(20).status() == orc::errc::timed_out);
    orc::message got;  // one that the machine delays for longer is dropped as well: send until one comes in time
    REQUIRE(wait_until([&] { return send_value(publisher, 2) && (got = subscriber.recv(20)); }));
    CHECK(value_of(got) == 2);
    CHECK(got.missed() >= 1);
    grow_older_by(300);
  }
}

TEMPLATE_TEST_CASE("max_age: what waited in the queue is as old as when it was sent", "[conformance][threads]",
                   ORC_TEST_TRANSPORTS) {
  broker_process address_broker;
  orc::participant sender(address_broker.options());
  REQUIRE(sender.register_topic("command", offered<TestType>()));
  auto publisher = sender.publisher("command");
  orc::participant receiver(address_broker.options());
  REQUIRE(receiver.request_topic("command", not_older_than<TestType>(500, 0)).result());
  auto subscriber = receiver.subscriber("command");
  REQUIRE(wait_until([&] { return publisher.readers() == 1; }));
  for (std::uint64_t value = 1; value <= 5; ++value) REQUIRE(send_value(publisher, value));
  (void)subscriber.recv_next(patience_ms);  // they have arrived, which counts where the format has no time of sending
  grow_older_by(600);
  const std::uint64_t before = subscriber.link().stale;
  CHECK(!subscriber.recv_next(0));
  CHECK(subscriber.link().stale > before);
  orc::message got;
  REQUIRE(wait_until([&] { return send_value(publisher, 6) && (got = subscriber.recv(20)); }));
  CHECK(value_of(got) == 6);
}

TEMPLATE_TEST_CASE("register_command, request_command: only the connected receive, and nothing that is old",
                   "[conformance][threads]", ORC_TEST_TRANSPORTS) {
  using namespace std::chrono_literals;
  broker_process address_broker;
  orc::participant sender(address_broker.options());
  orc::publisher command = sender.register_command("do", offered<TestType>());
  REQUIRE(command.result());
  REQUIRE(send_value(command, 1));
  orc::participant robot(address_broker.options());
  orc::subscriber does = robot.request_command("do", 200ms, wanted<TestType>());
  REQUIRE(does.result());
  REQUIRE(command.wait_readers(1, patience));
  CHECK_FALSE(does.recv(50ms));  // sent before it joined
  REQUIRE(send_value(command, 2));
  CHECK(value_of(does.recv(patience)) == 2);
  REQUIRE(send_value(command, 3));
  grow_older_by(200);
  CHECK_FALSE(does.recv(0));
  CHECK(wait_until([&] { return does.recv(0).status() == orc::errc::nothing_new && does.link().stale != 0; }));
  // The same again, and not another one.
  CHECK(sender.register_command("do", offered<TestType>()).result());
  CHECK(robot.request_command("do", 200ms).result());
  CHECK(robot.request_command("do", 201ms).result().code() == orc::errc::bad_argument);
}

TEST_CASE("register_command, request_command: what contradicts a command is a bad_argument", "[conformance]") {
  using namespace std::chrono_literals;
  using orc::errc;
  broker_process address_broker;
  orc::participant both(address_broker.options());
  const auto bulk = both.register_command("a", {.priority = orc::priority::bulk});
  CHECK_FALSE(bulk);
  CHECK_THAT(bulk.error().message(), contains("priority"));
  for (const auto age : {0ns, -1ns}) {
    const auto aged = both.request_command("b", age);
    CHECK_FALSE(aged);
    CHECK(aged.result().code() == errc::bad_argument);
    CHECK_THAT(aged.error().message(), contains("max_age above 0"));
  }
  CHECK(both.request_command("b", orc::forever).result().code() == errc::bad_argument);
  CHECK(both.request_command("b", 50ms, {.max_age = 60ms}).result().code() == errc::bad_argument);
  CHECK(both.request_command("b", 50ms, {.conflate = 0, .depth = 4}).result().code() == errc::bad_argument);
  CHECK_FALSE(both.publisher("a"));
  CHECK_FALSE(both.subscriber("b"));
  CHECK(both.request_command("b", 50ms, {.max_age = 50ms}));
  CHECK(both.register_command("c", {.transports = {orc::transport::ipc}}));  // where there is no priority
  CHECK(both.register_command("d", {.priority = orc::priority::control}));
}
