// PROTOCOL.md, "Order of events": who may take the place of a connection that is up.
#include <string>

#include "orc.h"
#include "support/broker_process.h"
#include "support/broker_view.h"
#include "support/catch.h"
#include "support/fake_publication.h"
#include "support/stream_peer.h"
#include "support/wait_until.h"

using namespace orc::test;
namespace wire = orc::wire;

namespace {

// The counter of the next sample.
std::optional<std::uint64_t> next_value(stream_peer& from) {
  for (;;) {
    const auto frame = from.hear();
    if (!frame) return std::nullopt;
    std::uint64_t sequence = 0;
    std::uint64_t value = 0;
    std::memcpy(&sequence, frame->data(), 8);
    if (sequence == 0 || frame->size() != 24) continue;  // a link message
    std::memcpy(&value, frame->data() + 16, 8);
    return value;
  }
}

}  // namespace

TEST_CASE("link hello: one with another subscription's id takes nothing from it; with its secret it takes its place",
          "[fault][threads]") {
  for (const auto kind : {wire::transport::ipc, wire::transport::tcp}) {
    INFO(wire::name_of(kind));
    broker_process address_broker;
    orc::participant sender(address_broker.options());
    REQUIRE(sender.register_topic("t", {.transports = {static_cast<orc::transport>(kind)}}).result());
    auto publisher = sender.publisher("t");
    raw_client client(address_broker.endpoint());
    const wire::id publication = described(client, "t").publication->publication;
    const std::string endpoint = address_of(address_broker.endpoint(), "t", kind);
    const wire::id subscription = wire::id::random();

    auto victim = joined_peer(endpoint, hello_frame(publication, subscription, 7, 100));
    auto without = joined_peer(endpoint, hello_frame(publication, subscription, 0, 100));
    auto guessed = joined_peer(endpoint, hello_frame(publication, subscription, 8, 100));
    auto old_client = joined_peer(endpoint, hello_frame(publication, subscription, 0, 100));
    REQUIRE(wait_until([&] { return publisher.readers() == 4; }));
    for (std::uint64_t value = 1; value <= 50; ++value) {
      REQUIRE(publisher.send(&value, sizeof value));
      for (auto* const each : {&victim, &without, &guessed, &old_client}) CHECK(next_value(*each) == value);
    }

    // The subscription itself, which has come back before the publication saw its first connection end.
    auto again = joined_peer(endpoint, hello_frame(publication, subscription, 7, 100));
    CHECK(wait_until([&] { return victim.is_cut_off(); }));
    CHECK(publisher.readers() == 4);
    for (std::uint64_t value = 51; value <= 60; ++value) {
      REQUIRE(publisher.send(&value, sizeof value));
      for (auto* const each : {&without, &guessed, &old_client}) CHECK(next_value(*each) == value);
    }
    CHECK(wait_until([&] { return next_value(again) == 60; }));
  }
}

TEST_CASE("link hello: a subscription has one secret for a publication, and another one for the next",
          "[fault][threads]") {
  broker_process address_broker;
  fake_publication fake(address_broker, "t");
  orc::participant receiver(address_broker.options());
  REQUIRE(receiver.request_topic("t", {.transports = {orc::transport::ipc}}).result());
  const auto first = fake.await_hello();
  REQUIRE(first);
  CHECK(first->secret != 0);
  REQUIRE(fake.say(link_frame(wire::link_kind::welcome, fake.id, first->subscription)));
  fake.hang_up();
  const auto again = fake.await_hello();
  REQUIRE(again);
  CHECK(again->secret == first->secret);
  fake.announce(wire::id::random());
  const auto other = fake.await_hello();
  REQUIRE(other);
  CHECK(other->subscription == first->subscription);
  CHECK(other->secret != 0);
  CHECK(other->secret != first->secret);
}
