// The address broker as a library: what orc-broker runs, and what a test, a bench or a program can run in its own
// process.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "broker_log.h"
#include "endpoint_rules.h"
#include "private_endpoint.h"
#include "topic_map.h"

namespace orc {

struct address_broker_options {
  std::vector<std::string> listen;             // ipc://PATH or tcp://ADDRESS:PORT (port * : any free one)
  std::chrono::milliseconds lease{3'000};      // a participant that is silent this long is forgotten
  std::chrono::milliseconds heartbeat{1'000};  // what participants are told; also the period of the broker's own checks
  std::chrono::milliseconds probe_timeout{500};  // how long a holder on another host may take to prove that it lives
  topic_map_limits limits;
  std::vector<address_range> allowed_endpoints;  // addresses that participants may name beside their own
  std::string version;                           // told to participants, for people
  broker_log log;                                // called from the broker's thread
};

class address_broker {
 public:
  struct statistics {
    std::uint64_t passes = 0;    // turns of the loop: grows at least once per heartbeat while the broker is well
    std::uint64_t messages = 0;  // received
    std::uint64_t rejected = 0;  // malformed, of several frames or too long, and connections that do not read
    std::uint64_t events = 0;    // pushed
    std::uint64_t unsent = 0;    // lost to connections that do not read
    std::uint64_t takeovers = 0;
    std::uint64_t participants = 0;
    std::uint64_t topics = 0;
    std::uint64_t subscriptions = 0;
  };

  // Binds all endpoints and serves them on a thread of its own; or one line that says what was tried, what was found
  // and what to do. Never throws for what the machine or a peer does wrong.
  [[nodiscard]] static std::variant<std::unique_ptr<address_broker>, std::string> start(address_broker_options options);

  address_broker(const address_broker&) = delete;
  address_broker& operator=(const address_broker&) = delete;
  ~address_broker();  // stop()

  // As they were bound, e.g. tcp://127.0.0.1:43211 for tcp://127.0.0.1:*. Any thread.
  [[nodiscard]] const std::vector<std::string>& endpoints() const noexcept;
  // Random per start: participants register everything again when it changes. Any thread.
  [[nodiscard]] std::uint64_t epoch() const noexcept;
  // Any thread, also after stop().
  [[nodiscard]] statistics stats() const;
  // Ends the thread, closes the socket and removes its files. Takes milliseconds. Once more does nothing. Any thread
  // but the broker's own; not two at the same time.
  void stop();

 private:
  class loop;
  explicit address_broker(std::unique_ptr<loop> running);
  std::unique_ptr<loop> loop_;
};

}  // namespace orc
