// What the address broker knows about a topic, asked for over the bare protocol.
#pragma once

#include <stdexcept>
#include <string>
#include <variant>

#include "support/raw_client.h"

namespace orc::test {

[[nodiscard]] inline wire::topic_state described(raw_client& client, const std::string& topic) {
  auto answer = client.ask(wire::describe_topic{topic});
  auto* state = std::get_if<wire::topic_state>(&answer);
  if (state == nullptr) return {};
  return std::move(*state);
}

// Address of a topic's publication on a transport; throws when there is none.
[[nodiscard]] inline std::string address_of(const std::string& broker, const std::string& topic, wire::transport over) {
  raw_client client(broker);
  const auto state = described(client, topic);
  if (state.publication) {
    for (const auto& endpoint : state.publication->endpoints) {
      if (endpoint.transport == over) return endpoint.address;
    }
  }
  throw std::runtime_error("the broker knows no such endpoint of " + topic);
}

}  // namespace orc::test
