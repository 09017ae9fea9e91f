// Brokers that know each other: real orc-broker processes on loopback, spoken to over the bare protocol.
#include <thread>

#include "integration/federated_brokers.h"
#include "orc.h"
#include "support/catch.h"

using namespace orc;
using namespace orc::test;
using namespace std::chrono_literals;

TEST_CASE("federation: brokers started in any order know each other's topics") {
  federated_brokers hosts(4);
  for (const std::size_t which : {2U, 0U}) hosts.start(which);
  bare_publisher early(hosts.endpoint(2));
  REQUIRE(early.published("pose"));
  for (const std::size_t which : {3U, 1U}) hosts.start(which);
  bare_publisher late(hosts.endpoint(1));
  REQUIRE(late.published("map"));
  for (const std::size_t which : {0U, 1U, 3U})
    CHECK(wait_until([&] { return host_of(hosts.endpoint(which), "pose") == "host2"; }));
  for (const std::size_t which : {0U, 2U, 3U})
    CHECK(wait_until([&] { return host_of(hosts.endpoint(which), "map") == "host1"; }));
  CHECK(host_of(hosts.endpoint(2), "pose").empty());
  CHECK(wait_until([&] { return state_of(hosts.endpoint(0), 0) == wire::peer_state::refused; }));  // itself
  CHECK(state_of(hosts.endpoint(0), 2) == wire::peer_state::up);
}

TEST_CASE("federation: a participant that requested a topic hears when it comes on another host, and goes") {
  federated_brokers hosts(2);
  hosts.start_all();
  bare_publisher reader(hosts.endpoint(0));
  REQUIRE(
      std::holds_alternative<wire::topic_state>(reader.client.ask(wire::request_topic{"pose", wire::id::random()})));
  bare_publisher there(hosts.endpoint(1));
  REQUIRE(there.published("pose"));
  auto event = reader.client.next_event();
  REQUIRE(event);
  auto state = std::get<wire::topic_state>(event->content);
  REQUIRE(state.publication);
  CHECK(state.publication->host_name == "host1");
  CHECK(state.publication->endpoints.at(0).address == "tcp://127.0.0.1:40000");
  there.client.ask(wire::goodbye{});
  event = reader.client.next_event();
  REQUIRE(event);
  CHECK_FALSE(std::get<wire::topic_state>(event->content).publication);
}

TEST_CASE("federation: tools show the host of a topic, and its state") {
  federated_brokers hosts(2);
  hosts.start_all();
  bare_publisher there(hosts.endpoint(1));
  REQUIRE(there.published("pose"));
  REQUIRE(wait_until([&] { return host_of(hosts.endpoint(0), "pose") == "host1"; }));
  std::jthread alive([&](const std::stop_token& end) {  // the tools may take longer than its lease
    for (; !end.stop_requested(); std::this_thread::sleep_for(100ms)) there.client.send(0, wire::heartbeat{});
  });
  const auto orc = [&](const std::string& what) {
    child_process run({"sh", "-c", program("orc") + " " + what + " --broker " + hosts.endpoint(0) + " 2>&1"});
    run.close_input();
    return run.read_all();
  };
  CHECK_THAT(orc("topic list -v"), contains("@host1)"));
  CHECK_THAT(orc("topic info pose"), contains("host1"));
  CHECK_THAT(orc("top --once"), contains("@host1)"));
  CHECK_THAT(orc("top --json"), contains("\"host_name\":\"host1\""));
  CHECK_THAT(orc("host list"), contains("host1"));
  alive = {};
  hosts.kill(1);
  REQUIRE(wait_until([&] { return host_of(hosts.endpoint(0), "pose") == "host1 stale"; }));
  CHECK_THAT(orc("top --once"), contains("@host1, stale)"));
  CHECK_THAT(orc("host list"), contains("stale"));
}

TEST_CASE("federation: a killed broker's topics are stale, stay, and are the same when it returns") {
  federated_brokers hosts(2);
  hosts.start_all();
  std::optional<bare_publisher> there(hosts.endpoint(1));
  REQUIRE(there->published("pose"));
  const auto id = there->ids.at("pose");
  REQUIRE(wait_until([&] { return host_of(hosts.endpoint(0), "pose") == "host1"; }));
  bare_publisher reader(hosts.endpoint(0));
  reader.client.ask(wire::request_topic{"pose", wire::id::random()});
  hosts.kill(1);
  CHECK(wait_until([&] { return host_of(hosts.endpoint(0), "pose") == "host1 stale"; }));
  CHECK(state_of(hosts.endpoint(0), 1) == wire::peer_state::stale);
  hosts.start(1);
  bare_publisher again(hosts.endpoint(1));
  again.ids["pose"] = id;
  REQUIRE(again.published("pose"));
  CHECK(wait_until([&] { return host_of(hosts.endpoint(0), "pose") == "host1"; }));
  raw_client asks(hosts.endpoint(0));
  CHECK(described(asks, "pose").publication->publication == id);
}

TEST_CASE("federation: the topics of a broker that stays away are gone after the lease") {
  federated_brokers hosts(2, "1");
  hosts.start_all();
  bare_publisher there(hosts.endpoint(1));
  REQUIRE(there.published("pose"));
  REQUIRE(wait_until([&] { return host_of(hosts.endpoint(0), "pose") == "host1"; }));
  hosts.kill(1);
  CHECK(wait_until([&] { return host_of(hosts.endpoint(0), "pose") == "-"; }));
  CHECK(state_of(hosts.endpoint(0), 1) == wire::peer_state::lost);
  bare_publisher here(hosts.endpoint(0));
  CHECK(here.published("pose"));
}

TEST_CASE("federation: a stopped broker is stale, and back when it goes on") {
  federated_brokers hosts(2);
  hosts.start_all();
  bare_publisher there(hosts.endpoint(1));
  REQUIRE(there.published("pose"));
  REQUIRE(wait_until([&] { return host_of(hosts.endpoint(0), "pose") == "host1"; }));
  hosts.process(1).freeze();
  CHECK(wait_until([&] { return host_of(hosts.endpoint(0), "pose") == "host1 stale"; }));
  hosts.process(1).thaw();
  CHECK(wait_until([&] { return state_of(hosts.endpoint(0), 1) == wire::peer_state::up; }));
}

TEST_CASE("federation: of two holders of a name the younger one loses it, and is told by whom") {
  federated_brokers hosts(2);
  hosts.start(0);
  bare_publisher older(hosts.endpoint(0));
  REQUIRE(older.published("pose"));
  hosts.start(1);
  bare_publisher younger(hosts.endpoint(1));
  // It may register before the brokers meet, or be refused at once.
  const bool was_first = younger.published("pose");
  CHECK(wait_until([&] { return host_of(hosts.endpoint(1), "pose") == "host0"; }));
  CHECK(host_of(hosts.endpoint(0), "pose").empty());
  if (was_first) {
    const auto answer = younger.client.ask(wire::heartbeat{});
    REQUIRE(std::holds_alternative<wire::error>(answer));
    CHECK(std::get<wire::error>(answer).code == wire::error_code::unknown_participant);
    REQUIRE(std::holds_alternative<wire::welcome>(younger.client.ask(younger.who)));
  }
  const auto answer = younger.publish("pose");
  REQUIRE(std::holds_alternative<wire::error>(answer));
  CHECK(std::get<wire::error>(answer).code == wire::error_code::name_taken);
  CHECK_THAT(std::get<wire::error>(answer).text, contains("on host host0"));
}

TEST_CASE("federation: a program that lost its name to another host gets it when that one leaves") {
  federated_brokers hosts(2);
  // Both have it while their brokers do not know each other.
  for (const std::size_t which : {0U, 1U}) hosts.start(which, false);
  std::vector<std::optional<participant>> programs(2);
  for (const std::size_t which : {0U, 1U}) {
    participant_options options;
    options.broker = hosts.endpoint(which);
    programs[which].emplace(options);
    REQUIRE(programs[which]->register_topic("pose", {.transports = {transport::tcp}}));
  }
  for (const std::size_t which : {0U, 1U}) hosts.kill(which);
  for (const std::size_t which : {0U, 1U}) hosts.start(which);
  const auto seen = [&](std::size_t by) { return host_of(hosts.endpoint(by), "pose"); };
  REQUIRE(
      wait_until([&] { return (seen(0).empty() && seen(1) == "host0") || (seen(1).empty() && seen(0) == "host1"); }));
  const std::size_t winner = seen(0).empty() ? 0 : 1;
  const std::size_t loser = 1 - winner;
  programs[winner].reset();
  CHECK(wait_until([&] { return seen(loser).empty() && seen(winner) == "host" + std::to_string(loser); }));
}

TEST_CASE("federation: a shared topic has the publishers of all hosts") {
  federated_brokers hosts(3);
  hosts.start_all();
  std::vector<std::unique_ptr<bare_publisher>> all;
  for (std::size_t which = 0; which < 3; ++which) {
    all.push_back(std::make_unique<bare_publisher>(hosts.endpoint(which)));
    CHECK(all.back()->published("stop", true));
  }
  for (std::size_t which = 0; which < 3; ++which) {
    raw_client asks(hosts.endpoint(which));
    CHECK(wait_until([&] { return described(asks, "stop").publications.size() == 3; }));
  }
}

TEST_CASE("federation: the schema of a type on another host is here") {
  federated_brokers hosts(2);
  hosts.start_all();
  type_description type{"T", "jsonschema", "json", std::string(100'000, 'x')};
  bare_publisher there(hosts.endpoint(1));
  REQUIRE(std::holds_alternative<wire::topic_state>(there.publish("pose", false, type)));
  for (std::uint32_t offset = 0; offset < type.schema.size(); offset += wire::max_schema_part) {
    there.client.ask(wire::schema_part{hash_of(type), offset, type.schema.substr(offset, wire::max_schema_part)});
  }
  raw_client asks(hosts.endpoint(0));
  CHECK(wait_until([&] {
    const auto answer = asks.ask(wire::get_schema{hash_of(type), 65'536});
    const auto* const part = std::get_if<wire::schema_part>(&answer);
    return part != nullptr && part->bytes == type.schema.substr(65'536, wire::max_schema_part);
  }));
}
