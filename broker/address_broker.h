// The address broker as a library. orc-broker runs it; tests, benchmarks and programs can run it in their own process.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/expected.h"
#include "broker/broker_log.h"
#include "broker/map/endpoint_rules.h"
#include "broker/map/topic_map.h"

namespace orc {

struct address_broker_options {
  std::vector<std::string> listen;               // ipc://PATH or tcp://ADDRESS:PORT (port *: any free one)
  std::chrono::milliseconds lease{3'000};        // the broker forgets a participant that is silent this long
  std::chrono::milliseconds heartbeat{1'000};    // of participants; also the period of the broker's own checks
  std::chrono::milliseconds probe_timeout{500};  // time for a holder on another host to prove that it lives
  std::optional<gid_t> group;                    // may use the ipc endpoints, whose directories it opens to it
  topic_map_limits limits;
  std::vector<address_range> allowed_endpoints;  // addresses that participants may name besides their own
  // Brokers of other hosts that tell their topics to this one: tcp://HOST:PORT, at most wire::max_peers.
  std::vector<std::string> peers;
  // Finds more of them by multicast, those of the same domain, and lets them find this one. The tcp endpoint that other
  // hosts reach must be among `listen`.
  bool discover = false;
  std::string domain = "orc";                    // 1 to 63 letters, digits, '-', '_' and '.'
  std::chrono::milliseconds peer_lease{60'000};  // topics of a peer that is silent are kept this long
  std::string host_name;                         // of this host, for people on others; empty: gethostname(2)
  std::string version;                           // sent to participants, for people
  broker_log log;                                // called on the broker's thread
};

class address_broker {
 public:
  struct statistics {
    std::uint64_t passes = 0;    // turns of the loop: grows at least once per heartbeat while the broker is healthy
    std::uint64_t messages = 0;  // received
    std::uint64_t rejected = 0;  // malformed, of several frames or too long, and connections that do not read
    std::uint64_t events = 0;    // pushed
    std::uint64_t unsent = 0;    // lost to connections that do not read
    std::uint64_t takeovers = 0;
    std::uint64_t participants = 0;
    std::uint64_t topics = 0;
    std::uint64_t subscriptions = 0;
    std::uint64_t peers_up = 0;  // peer brokers that answer
  };

  // Binds all endpoints and serves them on a thread of its own. Fails with one line that says what was tried, what was
  // found and what to do. Never throws for an error of the machine or a peer.
  [[nodiscard]] static detail::expected<std::unique_ptr<address_broker>> start(address_broker_options options);

  address_broker(const address_broker&) = delete;
  address_broker& operator=(const address_broker&) = delete;
  ~address_broker();  // stop()

  // The bound endpoints, e.g. tcp://127.0.0.1:43211 for tcp://127.0.0.1:*. Any thread.
  [[nodiscard]] const std::vector<std::string>& endpoints() const noexcept;
  // Random per start. Participants register everything again when it changes. Any thread.
  [[nodiscard]] std::uint64_t epoch() const noexcept;
  // Any thread, also after stop().
  [[nodiscard]] statistics stats() const;
  // Ends the thread, closes the socket and removes its files. Takes milliseconds. A second call does nothing. Any
  // thread, except the broker's own; not two at the same time.
  void stop();

 private:
  class loop;
  explicit address_broker(std::unique_ptr<loop> running);
  std::unique_ptr<loop> loop_;
};

}  // namespace orc
