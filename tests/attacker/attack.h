// What orc_test_attacker does to a broker and to the publications that it knows: the attacks of schemas/PROTOCOL.md's
// limits, each for a moment, with no respect for anything.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "attacker/line.h"
#include "wire/control.h"

namespace orc::test {

struct battlefield {
  std::vector<std::string> brokers;  // endpoints of one broker
  std::mt19937 random;
  std::chrono::steady_clock::time_point end;  // of the attack

  [[nodiscard]] bool goes_on() const { return std::chrono::steady_clock::now() < end; }
  [[nodiscard]] std::size_t below(std::size_t limit) { return random() % limit; }
  [[nodiscard]] const std::string& broker() { return brokers[below(brokers.size())]; }
};

// A connection to the broker that was introduced; it may be down.
[[nodiscard]] line to_broker(battlefield& field, std::string_view identity = {});
bool tell(line& to, std::uint64_t request, wire::body what);
// The answer to it, or what comes first; nothing when none comes.
[[nodiscard]] std::optional<wire::body> ask(line& to, wire::body what);
[[nodiscard]] wire::hello made_up_hello(battlefield& field);
// Everything that ListTopics shows.
[[nodiscard]] std::vector<wire::topic_state> topics_of(battlefield& field);

struct attack {
  const char* name;
  void (*run)(battlefield&);
};

[[nodiscard]] const std::vector<attack>& attacks_on_broker();
[[nodiscard]] const std::vector<attack>& attacks_on_identity();
[[nodiscard]] const std::vector<attack>& attacks_on_publishers();
[[nodiscard]] const std::vector<attack>& attacks_on_subscribers();

}  // namespace orc::test
