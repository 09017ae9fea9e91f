// Real orc-brokers that know each other, on loopback, and who speaks to them over the bare protocol.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "orc/type_description.h"
#include "support/broker_process.h"
#include "support/broker_view.h"
#include "support/catch.h"
#include "support/raw_client.h"
#include "support/wait_until.h"

namespace orc::test {

// Brokers that all have all of them as peers, themselves too, as one configuration file for a fleet would have it.
class federated_brokers {
 public:
  // `more`: peers besides them, which the test plays.
  explicit federated_brokers(std::size_t count, std::string lease_s = "60", std::vector<std::string> more = {})
      : lease_s_(std::move(lease_s)), more_(std::move(more)) {
    for (std::size_t n = 0; n < count; ++n) endpoints_.push_back("tcp://127.0.0.1:" + std::to_string(free_tcp_port()));
    running_.resize(count);
  }
  void start(std::size_t which, bool with_peers = true) {
    std::vector<std::string> command = {program("orc-broker"),
                                        "--listen",
                                        endpoints_[which],
                                        "--log-level",
                                        "error",
                                        "--peer-lease",
                                        lease_s_,
                                        "--host-name",
                                        "host" + std::to_string(which)};
    if (with_peers) {
      for (const auto& each : endpoints_) command.insert(command.end(), {"--peer", each});
      for (const auto& each : more_) command.insert(command.end(), {"--peer", each});
    }
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
  const std::vector<std::string> more_;
  std::vector<std::string> endpoints_;
  std::vector<std::optional<child_process>> running_;
};

struct bare_publisher {
  explicit bare_publisher(const std::string& endpoint) : client(endpoint) {
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
inline std::string host_of(const std::string& broker, const std::string& topic) {
  raw_client client(broker);
  const auto state = described(client, topic);
  return state.publication ? state.publication->host_name + (state.publication->stale ? " stale" : "") : "-";
}

inline wire::peer_info peer_of(const std::string& broker, std::size_t peer) {
  raw_client client(broker);
  const auto answer = client.ask(wire::list_peers{});
  REQUIRE(std::holds_alternative<wire::peer_list>(answer));
  return std::get<wire::peer_list>(answer).peers.at(peer);
}

inline wire::peer_state state_of(const std::string& broker, std::size_t peer) { return peer_of(broker, peer).state; }

}  // namespace orc::test
