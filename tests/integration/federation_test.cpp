// Brokers that know each other: real orc-broker processes on loopback, spoken to over the bare protocol.
#include <map>

#include "orc/type_description.h"
#include "support/broker_process.h"
#include "support/broker_view.h"
#include "support/catch.h"
#include "support/raw_client.h"
#include "support/wait_until.h"

using namespace orc;
using namespace orc::test;
using namespace std::chrono_literals;

namespace {

// Brokers that all have all of them as peers, themselves too, as one configuration file for a fleet would have it.
class federated_brokers {
 public:
  explicit federated_brokers(std::size_t count, std::string lease_s = "60") : lease_s_(std::move(lease_s)) {
    for (std::size_t n = 0; n < count; ++n) endpoints_.push_back("tcp://127.0.0.1:" + std::to_string(free_tcp_port()));
    running_.resize(count);
  }
  void start(std::size_t which) {
    std::vector<std::string> command = {program("orc-broker"),
                                        "--listen",
                                        endpoints_[which],
                                        "--log-level",
                                        "error",
                                        "--peer-lease",
                                        lease_s_,
                                        "--host-name",
                                        "host" + std::to_string(which)};
    for (const auto& each : endpoints_) command.insert(command.end(), {"--peer", each});
    running_[which].emplace(std::move(command), std::vector<std::string>{}, child_process::errors::pass_through);
    REQUIRE(wait_until([&] { return accepts_connections(endpoints_[which]); }));
  }
  void start_all() {
    for (std::size_t which = 0; which < endpoints_.size(); ++which) start(which);
  }
  void kill(std::size_t which) { running_[which]->kill(); }
  [[nodiscard]] child_process& process(std::size_t which) { return *running_[which]; }
  [[nodiscard]] const std::string& endpoint(std::size_t which) const { return endpoints_[which]; }

 private:
  const std::string lease_s_;
  std::vector<std::string> endpoints_;
  std::vector<std::optional<child_process>> running_;
};

struct publisher {
  explicit publisher(const std::string& endpoint) : client(endpoint) {
    REQUIRE(std::holds_alternative<wire::welcome>(client.ask(who)));
  }
  wire::body publish(const std::string& topic, bool shared = false,
                     const std::optional<type_description>& type = std::nullopt) {
    auto& id = ids[topic];
    if (!id) id = wire::id::random();
    wire::register_topic what{topic, id, {{wire::transport::tcp, "tcp://127.0.0.1:40000"}}, {}};
    what.shared = shared;
    if (type) {
      what.type = {type->name, type->schema_encoding, type->message_encoding, hash_of(*type),
                   static_cast<std::uint32_t>(type->schema.size())};
    }
    return client.ask(what);
  }
  bool published(const std::string& topic, bool shared = false) {
    return std::holds_alternative<wire::topic_state>(publish(topic, shared));
  }
  wire::hello who = hello_of_this_process();
  raw_client client;
  std::map<std::string, wire::id> ids;
};

// The host of a topic's publication, as a broker sees it: "" of its own, "-" of none.
std::string host_of(const std::string& broker, const std::string& topic) {
  raw_client client(broker);
  const auto state = described(client, topic);
  return state.publication ? state.publication->host_name + (state.publication->stale ? " stale" : "") : "-";
}

wire::peer_state state_of(const std::string& broker, std::size_t peer) {
  raw_client client(broker);
  const auto answer = client.ask(wire::list_peers{});
  REQUIRE(std::holds_alternative<wire::peer_list>(answer));
  return std::get<wire::peer_list>(answer).peers.at(peer).state;
}

}  // namespace

TEST_CASE("federation: brokers started in any order know each other's topics") {
  federated_brokers hosts(4);
  for (const std::size_t which : {2U, 0U}) hosts.start(which);
  publisher early(hosts.endpoint(2));
  REQUIRE(early.published("pose"));
  for (const std::size_t which : {3U, 1U}) hosts.start(which);
  publisher late(hosts.endpoint(1));
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
  publisher reader(hosts.endpoint(0));
  REQUIRE(
      std::holds_alternative<wire::topic_state>(reader.client.ask(wire::request_topic{"pose", wire::id::random()})));
  publisher there(hosts.endpoint(1));
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

TEST_CASE("federation: a killed broker's topics are stale, stay, and are the same when it returns") {
  federated_brokers hosts(2);
  hosts.start_all();
  std::optional<publisher> there(hosts.endpoint(1));
  REQUIRE(there->published("pose"));
  const auto id = there->ids.at("pose");
  REQUIRE(wait_until([&] { return host_of(hosts.endpoint(0), "pose") == "host1"; }));
  publisher reader(hosts.endpoint(0));
  reader.client.ask(wire::request_topic{"pose", wire::id::random()});
  hosts.kill(1);
  CHECK(wait_until([&] { return host_of(hosts.endpoint(0), "pose") == "host1 stale"; }));
  CHECK(state_of(hosts.endpoint(0), 1) == wire::peer_state::stale);
  hosts.start(1);
  publisher again(hosts.endpoint(1));
  again.ids["pose"] = id;
  REQUIRE(again.published("pose"));
  CHECK(wait_until([&] { return host_of(hosts.endpoint(0), "pose") == "host1"; }));
  raw_client asks(hosts.endpoint(0));
  CHECK(described(asks, "pose").publication->publication == id);
}

TEST_CASE("federation: the topics of a broker that stays away are gone after the lease") {
  federated_brokers hosts(2, "1");
  hosts.start_all();
  publisher there(hosts.endpoint(1));
  REQUIRE(there.published("pose"));
  REQUIRE(wait_until([&] { return host_of(hosts.endpoint(0), "pose") == "host1"; }));
  hosts.kill(1);
  CHECK(wait_until([&] { return host_of(hosts.endpoint(0), "pose") == "-"; }));
  CHECK(state_of(hosts.endpoint(0), 1) == wire::peer_state::lost);
  publisher here(hosts.endpoint(0));
  CHECK(here.published("pose"));
}

TEST_CASE("federation: a stopped broker is stale, and back when it goes on") {
  federated_brokers hosts(2);
  hosts.start_all();
  publisher there(hosts.endpoint(1));
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
  publisher older(hosts.endpoint(0));
  REQUIRE(older.published("pose"));
  raw_client asks(hosts.endpoint(0));
  // Older by more than what counts as the same age.
  const auto since = std::chrono::steady_clock::now();
  REQUIRE(wait_until([&] { return ms_since(since) > 1'500; }));
  hosts.start(1);
  publisher younger(hosts.endpoint(1));
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

TEST_CASE("federation: a shared topic has the publishers of all hosts") {
  federated_brokers hosts(3);
  hosts.start_all();
  std::vector<std::unique_ptr<publisher>> all;
  for (std::size_t which = 0; which < 3; ++which) {
    all.push_back(std::make_unique<publisher>(hosts.endpoint(which)));
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
  publisher there(hosts.endpoint(1));
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
