// DESIGN.md 1.2: a publication that welcomed a subscriber, sent, and left at once: what it sent arrives.
#include "support/broker_process.h"
#include "support/catch.h"
#include "support/fake_publication.h"
#include "support/test_node.h"
#include "support/wait_until.h"

using namespace orc::test;
namespace wire = orc::wire;

TEST_CASE("short-lived publication: its sample arrives, also when the broker's word that it left is read first",
          "[fault]") {
  broker_process address_broker;
  test_node subscriber;
  subscriber.must("open " + address_broker.endpoint());
  subscriber.must("request t ipc 1 1 0");
  fake_publication publication(address_broker, "t");
  const auto hello = publication.await_hello();
  REQUIRE(hello);
  // While the subscriber is held up, all of it waits for it: welcome, sample, and the news that nobody publishes.
  subscriber.process().freeze();
  CHECK(publication.say(link_frame(wire::link_kind::welcome, publication.id, hello->subscription)));
  CHECK(publication.say(sample_frame(1, 5, "for you!")));
  publication.withdraw();
  subscriber.process().thaw();
  CHECK(subscriber.ask("recv t " + std::to_string(patience_ms)).starts_with("sample 1 "));
}

TEST_CASE("short-lived publication: its sample arrives, also when the broker's word that it left overtakes it",
          "[fault]") {
  broker_process address_broker;
  test_node subscriber;
  subscriber.must("open " + address_broker.endpoint());
  subscriber.must("request t ipc 1 1 0");
  fake_publication publication(address_broker, "t");
  const auto hello = publication.await_hello();
  REQUIRE(hello);
  publication.withdraw();
  subscriber.must("request after ipc 1 1 0");  // the broker answers in order: the subscriber knows by now
  CHECK(publication.say(link_frame(wire::link_kind::welcome, publication.id, hello->subscription)));
  CHECK(publication.say(sample_frame(1, 5, "for you!")));
  CHECK(subscriber.ask("recv t " + std::to_string(patience_ms)).starts_with("sample 1 "));
}

// Else the next publication's first sample would be sent before its subscriber is there.
TEST_CASE("short-lived publication: its last sample does not make its subscriber connected again", "[fault]") {
  broker_process address_broker;
  test_node subscriber;
  subscriber.must("open " + address_broker.endpoint());
  subscriber.must("request t ipc 1 1 0");
  fake_publication publication(address_broker, "t");
  REQUIRE(publication.welcome());
  REQUIRE(wait_until([&] { return subscriber.ask("link t").starts_with("ipc"); }));
  publication.withdraw();
  REQUIRE(wait_until([&] { return subscriber.ask("link t").starts_with("none"); }));
  CHECK(publication.say(sample_frame(1, 5, "for you!")));
  CHECK(subscriber.ask("recv t " + std::to_string(patience_ms)).starts_with("sample 1 "));
  constexpr std::chrono::milliseconds longer_than_the_link(4000);
  CHECK_FALSE(wait_until([&] { return !subscriber.ask("link t").starts_with("none"); }, longer_than_the_link));
}
