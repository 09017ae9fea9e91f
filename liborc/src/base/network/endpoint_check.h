// Finds out why a broker's endpoint is silent: unknown host name, refused, no answer, no route.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "base/network/ip_address.h"

namespace orc::detail {

struct endpoint_finding {
  enum class kind : std::uint8_t {
    unknown,    // not tried
    listens,    // some program listens there
    no_answer,  // in time
    failed
  };
  kind what = kind::unknown;
  std::string text = {};                    // for people, when no broker answers; empty: unknown
  std::chrono::milliseconds round_trip{0};  // of the network, as the kernel measured it; 0: unknown
};

// A round trip from which on a network is slow: people are told, and waits for the broker grow.
inline constexpr std::chrono::milliseconds slow_round_trip{200};
// What a wait for the broker's answer gets more then: a connection, its greetings, and the answer.
inline constexpr int round_trips_more = 10;

// Connects and disconnects. Returns 0 when a program listens; else errno, ETIMEDOUT when no answer comes in time.
// Returns soon once `stop` is set. `round_trip`: as in endpoint_finding.
[[nodiscard]] int connection_problem(const ip_port& there, std::chrono::milliseconds within,
                                     const std::atomic<bool>* stop = nullptr,
                                     std::chrono::milliseconds* round_trip = nullptr) noexcept;

enum class names_are : std::uint8_t { looked_up, left_out };

// Connects to "tcp://host:port" or "ipc://path" and disconnects. Blocks for `within` at each address of the host (8 at
// most), and while the resolver looks names up. Once `stop` is set, only the resolver makes it wait.
[[nodiscard]] endpoint_finding look_at_endpoint(const std::string& endpoint, std::chrono::milliseconds within,
                                                names_are names, const std::atomic<bool>* stop = nullptr);

// Checks several endpoints, one after the other, on a thread of its own: the resolver may take many seconds for a host
// name.
class endpoint_check {
 public:
  // Time limit of a connection.
  static constexpr auto patience = std::chrono::milliseconds(750);
  // The same for a slow network.
  static constexpr auto long_patience = std::chrono::milliseconds(2500);

  // Throws std::system_error when no thread can be started.
  explicit endpoint_check(std::vector<std::string> endpoints, std::chrono::milliseconds within = patience);
  // Waits for one answer of the resolver.
  ~endpoint_check();
  endpoint_check(const endpoint_check&) = delete;
  endpoint_check& operator=(const endpoint_check&) = delete;

  [[nodiscard]] bool is_done() const noexcept { return done_.load(std::memory_order_acquire); }
  [[nodiscard]] const std::vector<std::string>& endpoints() const noexcept { return endpoints_; }
  // When it is done: what was found at each endpoint.
  [[nodiscard]] const std::vector<endpoint_finding>& findings() const noexcept { return findings_; }

 private:
  const std::vector<std::string> endpoints_;
  std::vector<endpoint_finding> findings_;
  std::atomic<bool> done_{false};
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

}  // namespace orc::detail
