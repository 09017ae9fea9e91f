// What fails in a round of chaos, when and for how long: a seed gives the same plan on each machine.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace orc::test {

enum class fault_kind {
  // of a host's network
  carrier,
  silent,
  ip,
  reject,
  reset,
  deaf,
  mute,
  path,       // to one other host only
  path_deaf,  // one way
  path_mute,
  slow,     // delay and loss
  address,  // another one, and the first again
  plugged,  // the interface goes away and is made again
  // of a host's programs
  broker_killed,
  broker_stopped,
  server_killed,
  server_stopped,
  client_stopped,
  node_stopped,
  claimant_stopped
};
inline constexpr std::array fault_names = {"carrier",
                                           "silent",
                                           "ip",
                                           "reject",
                                           "reset",
                                           "deaf",
                                           "mute",
                                           "path",
                                           "path_deaf",
                                           "path_mute",
                                           "slow",
                                           "address",
                                           "plugged",
                                           "broker_killed",
                                           "broker_stopped",
                                           "server_killed",
                                           "server_stopped",
                                           "client_stopped",
                                           "node_stopped",
                                           "claimant_stopped"};

struct fault {
  fault_kind kind = {};
  std::size_t host = 0;
  std::size_t other = 0;  // the far end of a path
  std::chrono::milliseconds begins = {};
  std::chrono::milliseconds ends = {};

  [[nodiscard]] bool is_of_network() const { return kind < fault_kind::broker_killed; }
};

[[nodiscard]] inline std::string to_string(const fault& what) {
  const auto seconds = [](std::chrono::milliseconds time) {
    return std::to_string(time.count() / 1000) + "." + std::to_string(time.count() % 1000 / 100);
  };
  std::string text = seconds(what.begins) + "-" + seconds(what.ends) + " s: host" + std::to_string(what.host) + " " +
                     fault_names.at(static_cast<std::size_t>(what.kind));
  if (what.kind >= fault_kind::path && what.kind <= fault_kind::path_mute) text += " host" + std::to_string(what.other);
  return text;
}

// The faults of `length`, in the order in which they begin; several at a time, but one at a time of a host's network
// and one of its programs. Each lasts 0.2 s to `longest`, and ends with the round at the latest.
[[nodiscard]] inline std::vector<fault> chaos_plan(std::mt19937& random, std::size_t hosts,
                                                   std::chrono::milliseconds length,
                                                   std::chrono::milliseconds longest) {
  using std::chrono::milliseconds;
  // std::uniform_int_distribution is another one in each library.
  const auto up_to = [&](auto n) { return static_cast<decltype(n)>(random() % static_cast<std::uint32_t>(n)); };
  std::vector<std::array<milliseconds, 2>> busy_until(hosts, {milliseconds(0), milliseconds(0)});
  std::vector<fault> plan;
  for (milliseconds now{0}; now < length; now += milliseconds(100 + up_to(900))) {
    fault next{.kind = static_cast<fault_kind>(up_to(fault_names.size())), .host = up_to(hosts), .begins = now};
    next.other = (next.host + 1 + up_to(hosts - 1)) % hosts;
    next.ends = std::min(length, now + milliseconds(200 + up_to(longest.count() - 200)));
    auto& busy = busy_until[next.host][next.is_of_network() ? 0 : 1];
    if (busy > now) continue;
    busy = next.ends;
    plan.push_back(next);
  }
  return plan;
}

}  // namespace orc::test
