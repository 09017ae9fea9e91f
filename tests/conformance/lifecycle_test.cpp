// Topics come and go: registered again, released and requested again, handles that outlive what they belong to.
#include <thread>

#include "conformance/link.h"
#include "support/catch.h"
#include "support/payload.h"
#include "support/wait_until.h"

using namespace orc::test;

TEMPLATE_TEST_CASE("lifecycle: registered again, a topic starts at 1 and its subscriber follows",
                   "[conformance][threads]", ORC_TEST_TRANSPORTS) {
  linked<TestType> l;
  for (std::uint64_t life = 1; life <= rounds(8, 300, 5); ++life) {
    for (std::uint64_t n = 1; n <= 5; ++n) {
      REQUIRE(send_value(l.publisher, life * 100 + n));
      const auto got = l.subscriber.recv(patience_ms);
      REQUIRE(got);
      REQUIRE(value_of(got) == life * 100 + n);
      REQUIRE(got.sequence() == n);
      REQUIRE(got.missed() == 0);
    }
    REQUIRE(l.sender.unregister_topic(l.topic));
    CHECK(l.publisher.send("x", 1).code() == orc::errc::closed);
    CHECK(l.sender.send_msg(l.topic, "x", 1).code() == orc::errc::not_registered);
    REQUIRE(l.sender.register_topic(l.topic, offered<TestType>()));
    l.publisher = l.sender.publisher(l.topic);
    REQUIRE(l.publisher);
  }
}

TEMPLATE_TEST_CASE("lifecycle: a subscriber sees that the publication is gone", "[conformance][threads]",
                   ORC_TEST_TRANSPORTS) {
  linked<TestType> l;
  REQUIRE(l.subscriber.connected());
  REQUIRE(l.sender.unregister_topic(l.topic));
  CHECK(wait_until([&] { return !l.subscriber.connected(); }));
  CHECK(!l.subscriber.link().connected);
  CHECK(l.subscriber.recv(0).status() == orc::errc::nothing_new);
  CHECK(l.subscriber.recv(10).status() == orc::errc::timed_out);
}

TEMPLATE_TEST_CASE("lifecycle: the last sample before unregister_topic still arrives", "[conformance][threads]",
                   ORC_TEST_TRANSPORTS) {
  linked<TestType> l;
  for (std::uint64_t life = 1; life <= rounds(8, 300, 5); ++life) {
    REQUIRE(l.subscriber.wait_connected(patience_ms));
    REQUIRE(send_value(l.publisher, life));
    REQUIRE(l.sender.unregister_topic(l.topic));
    const auto got = l.subscriber.recv(patience_ms);
    INFO("life " << life << ": " << orc::describe(got.status()));
    REQUIRE(got);
    REQUIRE(value_of(got) == life);
    REQUIRE(wait_until([&] { return !l.subscriber.connected(); }));
    REQUIRE(l.sender.register_topic(l.topic, offered<TestType>()));
    l.publisher = l.sender.publisher(l.topic);
  }
}

TEMPLATE_TEST_CASE("lifecycle: released and requested again, a subscriber gets the last sample again",
                   "[conformance][threads]", ORC_TEST_TRANSPORTS) {
  linked<TestType> l;
  REQUIRE(send_value(l.publisher, 11));
  for (std::size_t round = 0; round < rounds(30, 300, 5); ++round) {
    const auto got = l.subscriber.recv(patience_ms);
    REQUIRE(got);
    REQUIRE(value_of(got) == 11);
    REQUIRE(l.receiver.release_topic(l.topic));
    REQUIRE(l.subscriber.recv(0).status() == orc::errc::closed);
    REQUIRE(l.subscriber.wait_connected(0).code() == orc::errc::closed);
    REQUIRE(l.receiver.recv_msg(l.topic, 0).status() == orc::errc::not_requested);
    REQUIRE(l.receiver.request_topic(l.topic, wanted<TestType>()).result());
    l.subscriber = l.receiver.subscriber(l.topic);
  }
  CHECK(wait_until([&] { return l.publisher.readers() == 1; }));
}

TEMPLATE_TEST_CASE("lifecycle: readers() counts the links", "[conformance][threads]", ORC_TEST_TRANSPORTS) {
  linked<TestType> l;
  CHECK(wait_until([&] { return l.publisher.readers() == 1; }));
  {
    extra_reader<TestType> second(l.address_broker);
    CHECK(wait_until([&] { return l.publisher.readers() == 2; }));
  }
  CHECK(wait_until([&] { return l.publisher.readers() == 1; }));
  REQUIRE(l.receiver.release_topic(l.topic));
  CHECK(wait_until([&] { return l.publisher.readers() == 0; }));
}

TEMPLATE_TEST_CASE("lifecycle: declaring twice is harmless, withdrawing twice says so", "[conformance][threads]",
                   ORC_TEST_TRANSPORTS) {
  linked<TestType> l;
  CHECK(l.sender.register_topic(l.topic, offered<TestType>()));
  CHECK(l.receiver.request_topic(l.topic, wanted<TestType>()).result());
  REQUIRE(send_value(l.publisher, 1));
  REQUIRE(l.subscriber.recv(patience_ms));
  CHECK(l.sender.unregister_topic(l.topic));
  CHECK(l.sender.unregister_topic(l.topic).code() == orc::errc::not_registered);
  CHECK(l.receiver.release_topic(l.topic));
  CHECK(l.receiver.release_topic(l.topic).code() == orc::errc::not_requested);
}

TEMPLATE_TEST_CASE("lifecycle: handles outlive the participant and say closed", "[conformance][threads]",
                   ORC_TEST_TRANSPORTS) {
  orc::publisher publisher;
  orc::subscriber subscriber;
  orc::message kept;
  orc::loan borrowed;
  {
    linked<TestType> l;
    publisher = l.publisher;
    subscriber = l.subscriber;
    REQUIRE(publisher.send("kept", 4));
    kept = subscriber.recv(patience_ms);
    borrowed = publisher.loan(100);
  }
  CHECK(publisher.send("x", 1).code() == orc::errc::closed);
  CHECK(publisher.readers() == 0);
  CHECK(subscriber.recv(0).status() == orc::errc::closed);
  CHECK(subscriber.recv(-1).status() == orc::errc::closed);
  CHECK(!subscriber.connected());
  CHECK(subscriber.wait_connected(-1).code() == orc::errc::closed);
  CHECK(!subscriber.link().connected);
  REQUIRE(kept.size() == 4);
  CHECK(std::memcmp(kept.data(), "kept", 4) == 0);
  REQUIRE(borrowed);
  std::memset(borrowed.data(), 1, borrowed.size());
  CHECK(publisher.send(std::move(borrowed)).code() == orc::errc::closed);
}

TEMPLATE_TEST_CASE("lifecycle: empty handles are harmless", "[conformance][threads]", ORC_TEST_TRANSPORTS) {
  orc::publisher publisher;
  orc::subscriber subscriber;
  CHECK(!publisher);
  CHECK(!subscriber);
  CHECK(!publisher.send("x", 1));
  CHECK(!publisher.loan(1));
  CHECK(publisher.readers() == 0);
  CHECK(!subscriber.recv(0));
  CHECK(!subscriber.recv(-1));
  CHECK(subscriber.fd() == -1);
  CHECK(!subscriber.connected());
  CHECK(!subscriber.wait_connected(-1));
  CHECK(!subscriber.link().connected);
}

TEMPLATE_TEST_CASE("lifecycle: a participant can read its own topic", "[conformance][threads]", ORC_TEST_TRANSPORTS) {
  broker_process address_broker;
  orc::participant both(address_broker.options());
  REQUIRE(both.register_topic("own", offered<TestType>()));
  REQUIRE(both.request_topic("own", wanted<TestType>()).result());
  for (std::uint64_t value = 1; value <= 100; ++value) {
    REQUIRE(both.send_msg("own", &value, sizeof value));
    const auto got = both.recv_msg("own", patience_ms);
    REQUIRE(got);
    REQUIRE(value_of(got) == value);
  }
}

TEMPLATE_TEST_CASE("lifecycle: a participant that moves takes its topics along", "[conformance][threads]",
                   ORC_TEST_TRANSPORTS) {
  broker_process address_broker;
  orc::participant first(address_broker.options());
  REQUIRE(first.register_topic("moved", offered<TestType>()));
  orc::participant second(std::move(first));
  REQUIRE(second.request_topic("moved", wanted<TestType>()).result());
  REQUIRE(second.send_msg("moved", "x", 1));
  CHECK(second.recv_msg("moved", patience_ms));
  orc::participant third(address_broker.options());
  third = std::move(second);
  CHECK(third.send_msg("moved", "y", 1));
  CHECK(third.recv_msg("moved", patience_ms));
}

TEMPLATE_TEST_CASE("lifecycle: participants come and go quickly, in any order", "[conformance][threads]",
                   ORC_TEST_TRANSPORTS) {
  broker_process address_broker;
  for (std::size_t round = 0; round < rounds(20, 500, 5); ++round) {
    auto sender = std::make_unique<orc::participant>(address_broker.options());
    auto receiver = std::make_unique<orc::participant>(address_broker.options());
    REQUIRE(receiver->request_topic("short", wanted<TestType>(1, 0, 0)).result());
    REQUIRE(sender->register_topic("short", offered<TestType>()));
    REQUIRE(sender->send_msg("short", "x", 1));
    if (round % 3 == 0) CHECK(receiver->recv_msg("short", patience_ms));
    if (round % 2 == 0) {
      sender.reset();
    } else {
      receiver.reset();
    }
  }
}
