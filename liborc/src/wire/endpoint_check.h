// Finds out why brokers' endpoints stay silent: unknown host name, refused, no answer, no route.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "wire/ip_address.h"

namespace orc::wire {

struct endpoint_finding {
  enum class kind : std::uint8_t {
    unknown,    // it was not tried
    listens,    // some program does
    no_answer,  // in time
    failed
  };
  kind what = kind::unknown;
  std::string text = {};  // for people, of an endpoint at which no broker answers; empty: unknown
};

// Connects and closes the connection again. 0: somebody listens; else errno, ETIMEDOUT where there is no answer in
// time.
[[nodiscard]] int connection_problem(const ip_port& there, std::chrono::milliseconds within) noexcept;

enum class names_are : std::uint8_t { looked_up, left_out };

// Connects to "tcp://host:port" or "ipc://path" and closes the connection again. Blocks for `within` at each address of
// the host (8 at most), and as long as the resolver does if names are looked up.
// Blocks no longer than one of them once `stop` is raised.
[[nodiscard]] endpoint_finding look_at_endpoint(const std::string& endpoint, std::chrono::milliseconds within,
                                                names_are names, const std::atomic<bool>* stop = nullptr);

// Looks at several, one after the other, on a thread of its own: the resolver may take many seconds for a host name.
class endpoint_check {
 public:
  // How long a connection may take.
  static constexpr auto patience = std::chrono::milliseconds(750);

  // Throws std::system_error where there can be no thread.
  explicit endpoint_check(std::vector<std::string> endpoints);
  // Waits for one answer of the resolver, or for one connection.
  ~endpoint_check();
  endpoint_check(const endpoint_check&) = delete;
  endpoint_check& operator=(const endpoint_check&) = delete;

  [[nodiscard]] bool is_done() const noexcept { return done_.load(std::memory_order_acquire); }
  [[nodiscard]] const std::vector<std::string>& endpoints() const noexcept { return endpoints_; }
  // Once it is done: endpoint_finding::text of each endpoint.
  [[nodiscard]] const std::vector<std::string>& findings() const noexcept { return findings_; }

 private:
  const std::vector<std::string> endpoints_;
  std::vector<std::string> findings_;
  std::atomic<bool> done_{false};
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

}  // namespace orc::wire
