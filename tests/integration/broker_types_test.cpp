// Many typed topics in a real broker: what it keeps of their types, and what that costs.
#include <deque>

#include "orc/type_description.h"
#include "support/broker_process.h"
#include "support/budget.h"
#include "support/catch.h"
#include "support/proc_stats.h"
#include "support/raw_client.h"

using namespace orc;
using test::raw_client;

namespace {

constexpr std::size_t types = 200;
constexpr std::size_t topics = 10'000;

type_description type_of(std::size_t n) {
  const auto number = std::to_string(n);
  return {"robot.State" + number, "struct", "struct", number + std::string(32 * 1024 - number.size(), 's')};
}

wire::type_reference reference_to(const type_description& type) {
  return {type.name, type.schema_encoding, type.message_encoding, hash_of(type),
          static_cast<std::uint32_t>(type.schema.size())};
}

}  // namespace

TEST_CASE("orc-broker: ten thousand typed topics that share 200 schemas store each of them once") {
  test::broker_process broker;
  raw_client node(broker.endpoint());
  node.ask(test::hello_of_this_process());
  std::deque<type_description> all;
  std::vector<wire::type_reference> references;
  for (std::size_t n = 0; n < types; ++n) {
    all.push_back(type_of(n));
    references.push_back(reference_to(all.back()));
  }
  std::size_t asked_for = 0;
  for (std::size_t n = 0; n < topics; ++n) {
    const auto& type = references[n % types];
    const wire::register_topic what{"t/" + std::to_string(n), wire::id::random(), {}, type};
    const auto answer = node.ask(what);
    REQUIRE(std::holds_alternative<wire::topic_state>(answer));
    if (!std::get<wire::topic_state>(answer).lacks_schema) continue;
    ++asked_for;
    REQUIRE(std::holds_alternative<wire::ack>(node.ask(wire::schema_part{type.hash, 0, all[n % types].schema})));
  }
  CHECK(asked_for == types);
  const auto rss = test::stats_of(broker.pid()).rss_kib;
  INFO("the broker has " << rss << " KiB");
  if (!test::under_sanitizer) CHECK(rss < 200 * 1024);
  for (std::size_t n = 0; n < types; ++n) {
    const auto answer = node.ask(wire::get_schema{references[n].hash, 0});
    REQUIRE(std::holds_alternative<wire::schema_part>(answer));
    CHECK(std::get<wire::schema_part>(answer).bytes == all[n].schema);
  }
}
