// Publishers that claim a type whose schema the broker does not get: the subscriber waits for it, and says so.
#include <optional>
#include <string>

#include "orc.h"
#include "orc/directory.h"
#include "support/broker_process.h"
#include "support/catch.h"
#include "support/raw_client.h"
#include "support/struct_types.h"
#include "support/test_node.h"
#include "support/wait_until.h"
#include "wire/described_type.h"

using namespace orc::test;
using orc::errc;
namespace wire = orc::wire;

namespace {

const auto here = struct_type("float64");
const auto there = large_struct_type("float32", 100'000);

// A publisher without liborc.
struct claimant {
  explicit claimant(const broker_process& broker) : client(broker.endpoint()) {
    client.ask(hello_of_this_process("claimant"));
    const auto answer = client.ask(wire::register_topic{
        .topic = "t", .publication = publication, .endpoints = {}, .type = orc::detail::describe(there)->reference});
    REQUIRE(std::holds_alternative<wire::topic_state>(answer));
    CHECK(std::get<wire::topic_state>(answer).lacks_schema);
  }
  wire::body send_part(std::uint32_t offset) {
    return client.ask(wire::schema_part{hash_of(there), offset, there.schema.substr(offset, wire::max_schema_part)});
  }
  void send_all() {
    for (std::uint32_t offset = 0; offset < there.schema.size(); offset += wire::max_schema_part)
      REQUIRE(std::holds_alternative<wire::ack>(send_part(offset)));
  }

  raw_client client;
  const wire::id publication = wire::id::random();
};

orc::request_options wanting(const orc::type_description& type, int within_ms = 0) {
  orc::request_options wanted;
  wanted.type = type;
  wanted.connected_within = std::chrono::milliseconds(within_ms);
  return wanted;
}

const std::string waits = "waits for the schema of robot.State";

}  // namespace

TEST_CASE("types: a subscriber says that it waits for a schema, until the schema comes", "[integration][threads]") {
  broker_process address_broker;
  claimant publisher(address_broker);
  orc::participant viewer(address_broker.options());
  REQUIRE(viewer.request_topic("t", wanting(here)).result());
  auto subscriber = viewer.subscriber("t");
  CHECK(subscriber.link().reason == waits);
  const auto late = viewer.request_topic("t", wanting(here, 50)).result();
  CHECK(late.code() == errc::timed_out);
  CHECK_THAT(late.error().message(), contains(waits));
  publisher.client.send(0, wire::heartbeat{});
  publisher.send_all();
  const auto waited = subscriber.wait_connected(patience_ms);
  CHECK(waited.code() == errc::type_mismatch);
  CHECK_THAT(waited.error().message(), contains("topic t: type mismatch between robot.State at publisher `claimant ("));
}

TEST_CASE("types: a publisher that dies while it sends its schema leaves the next one room", "[integration][threads]") {
  broker_process address_broker;
  orc::participant viewer(address_broker.options());
  REQUIRE(viewer.request_topic("t", wanting(here)).result());
  auto subscriber = viewer.subscriber("t");
  std::optional<claimant> dying(std::in_place, address_broker);
  REQUIRE(std::holds_alternative<wire::ack>(dying->send_part(0)));
  REQUIRE(std::holds_alternative<wire::ack>(dying->send_part(wire::max_schema_part)));
  CHECK(wait_until([&] { return subscriber.link().reason == waits; }));
  dying->client.ask(wire::goodbye{});
  dying.reset();
  CHECK(wait_until([&] { return subscriber.link().reason == "no publisher"; }));
  orc::participant arm(address_broker.options("arm"));
  orc::topic_options offered;
  offered.type = there;
  REQUIRE(arm.register_topic("t", offered));
  CHECK(subscriber.wait_connected(patience_ms).code() == errc::type_mismatch);
}

TEST_CASE("types: a subscription that is released does not wait for a schema any more", "[integration][threads]") {
  broker_process address_broker;
  const claimant publisher(address_broker);
  orc::participant viewer(address_broker.options());
  REQUIRE(viewer.request_topic("t", wanting(here)).result());
  REQUIRE(viewer.release_topic("t"));
  REQUIRE(viewer.request_topic("t", wanting(there)).result());
  CHECK(viewer.subscriber("t").link().reason != waits);  // equal hashes need no schema
}
