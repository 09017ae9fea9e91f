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
  std::string text = {};  // for people, when no broker answers; empty: unknown
};

// Connects and disconnects. Returns 0 when a program listens; else errno, ETIMEDOUT when no answer comes in time.
[[nodiscard]] int connection_problem(const ip_port& there, std::chrono::milliseconds within) noexcept;

enum class names_are : std::uint8_t { looked_up, left_out };

// Connects to "tcp://host:port" or "ipc://path" and disconnects. Blocks for `within` at each address of the host (8 at
// most), and while the resolver looks names up. Blocks for one of these at most once `stop` is set.
[[nodiscard]] endpoint_finding look_at_endpoint(const std::string& endpoint, std::chrono::milliseconds within,
                                                names_are names, const std::atomic<bool>* stop = nullptr);

// Checks several endpoints, one after the other, on a thread of its own: the resolver may take many seconds for a host
// name.
class endpoint_check {
 public:
  // Time limit of a connection.
  static constexpr auto patience = std::chrono::milliseconds(750);

  // Throws std::system_error when no thread can be started.
  explicit endpoint_check(std::vector<std::string> endpoints);
  // Waits for one answer of the resolver, or for one connection.
  ~endpoint_check();
  endpoint_check(const endpoint_check&) = delete;
  endpoint_check& operator=(const endpoint_check&) = delete;

  [[nodiscard]] bool is_done() const noexcept { return done_.load(std::memory_order_acquire); }
  [[nodiscard]] const std::vector<std::string>& endpoints() const noexcept { return endpoints_; }
  // When it is done: endpoint_finding::text of each endpoint.
  [[nodiscard]] const std::vector<std::string>& findings() const noexcept { return findings_; }

 private:
  const std::vector<std::string> endpoints_;
  std::vector<std::string> findings_;
  std::atomic<bool> done_{false};
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

}  // namespace orc::detail
