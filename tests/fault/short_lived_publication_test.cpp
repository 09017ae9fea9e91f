// contract.md 1: a publication that welcomed a subscriber, sent, and left at once: what it sent arrives.
#include <optional>
#include <string>

#include "support/broker_process.h"
#include "support/catch.h"
#include "support/fake_publication.h"
#include "support/test_node.h"
#include "support/wait_until.h"

using namespace orc::test;
namespace wire = orc::wire;

namespace {

// A subscription that waits for the publication of its topic, which then comes.
struct short_lived {
  short_lived() {
    subscriber.must("open " + address_broker.endpoint());
    subscriber.must("request t ipc 1 1 0");
    publication.emplace(address_broker, "t");
  }
  bool send_last() { return publication->say(sample_frame(1, 5, "for you!")); }
  bool arrives() { return subscriber.ask("recv t " + std::to_string(patience_ms)).starts_with("sample 1 "); }

  broker_process address_broker;
  test_node subscriber;
  std::optional<fake_publication> publication;
};

}  // namespace

TEST_CASE("short-lived publication: its sample arrives, also when the broker's word that it left is read first",
          "[fault]") {
  short_lived topic;
  const auto hello = topic.publication->await_hello();
  REQUIRE(hello);
  // While the subscriber is held up, all of it waits for it: welcome, sample, and the news that nobody publishes.
  topic.subscriber.process().freeze();
  CHECK(topic.publication->say(link_frame(wire::link_kind::welcome, topic.publication->id, hello->subscription)));
  CHECK(topic.send_last());
  topic.publication->withdraw();
  topic.subscriber.process().thaw();
  CHECK(topic.arrives());
}

TEST_CASE("short-lived publication: its sample arrives, also when the broker's word that it left overtakes it",
          "[fault]") {
  short_lived topic;
  const auto hello = topic.publication->await_hello();
  REQUIRE(hello);
  topic.publication->withdraw();
  topic.subscriber.must("request after ipc 1 1 0");  // the broker answers in order: the subscriber knows by now
  CHECK(topic.publication->say(link_frame(wire::link_kind::welcome, topic.publication->id, hello->subscription)));
  CHECK(topic.send_last());
  CHECK(topic.arrives());
}

// Else the next publication's first sample would be sent before its subscriber is there.
TEST_CASE("short-lived publication: its last sample does not make its subscriber connected again", "[fault]") {
  short_lived topic;
  REQUIRE(topic.publication->welcome());
  REQUIRE(wait_until([&] { return topic.subscriber.ask("link t").starts_with("ipc"); }));
  topic.publication->withdraw();
  REQUIRE(wait_until([&] { return topic.subscriber.ask("link t").starts_with("none"); }));
  CHECK(topic.send_last());
  CHECK(topic.arrives());
  constexpr std::chrono::milliseconds longer_than_the_link(4000);
  CHECK_FALSE(wait_until([&] { return !topic.subscriber.ask("link t").starts_with("none"); }, longer_than_the_link));
}
