// What this broker and its peers, the brokers of other hosts, report to each other. It watches each peer's own topics
// (Watch with `own`) and puts them into the topic map. A peer is trusted because this broker connected to it: nothing
// that connects here can add a topic this way. A peer is configured, or discovered by its beacon. It has no sockets, no
// clock and no threads.
// liborc/doc/design/federation.md has the reasons.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "broker/broker_log.h"
#include "broker/map/topic_map.h"
#include "wire/control.h"

namespace orc {

class federation {
 public:
  using time = topic_map::time;
  using duration = topic_map::duration;
  using peer_key = peer_reports::peer_key;

  static constexpr duration ask_again{1'000};  // a peer without news answers after this long
  static constexpr duration patience{2'000};   // and this much later it counts as silent
  // A peer that breaks a rule is left alone for this long.
  static constexpr duration banned{10'000};
  // Changes of a peer within this time come together.
  static constexpr duration pace{10};
  // Programs register again this long after their broker restarted: about a lease.
  static constexpr duration restart{3'000};
  // A beacon may be forged. A peer that never answered is dropped when no beacon came for this long, or for another one
  // when it did not answer for `trial`. Beacons add a peer at most every `discovery_pace`.
  static constexpr duration beacon_lease{5'000};
  static constexpr duration trial{3'000};
  static constexpr duration discovery_pace{100};
  // A peer that a beacon names at another address is asked whether it is still at its old one. It has this long, and
  // two round trips, which it cannot make longer than `longest_trip`.
  static constexpr duration still_there{750};
  static constexpr duration longest_trip{2'000};

  struct options {
    std::vector<std::string> peers;  // endpoints, at most wire::max_peers
    std::string host_name;           // of this host, for people
    std::uint64_t epoch = 0;         // of this broker
    duration lease{60'000};          // topics of a silent peer are kept this long
  };
  // The world around it.
  class owner {
   public:
    // False: the connection is gone or takes no more.
    virtual bool send(peer_key to, const std::string& frame) = 0;
    // Ends the connection. Connects again after `pause`.
    virtual void close(peer_key which, duration pause) = 0;
    // A discovered peer, with the key of one that was removed or the next new one.
    virtual void add(peer_key which, const std::string& endpoint) = 0;
    // Ends the connection for good. The key is free.
    virtual void remove(peer_key which) = 0;
    // A publication of a participant here lost its name.
    virtual void displaced(const peer_reports::displaced& which) = 0;
    virtual void log(broker_log_level level, const std::string& text) = 0;

   protected:
    ~owner() = default;
  };

  federation(options chosen, topic_map& map, owner& world);

  // A connection to a peer is ready. `same_host`: the peer runs on this host.
  void connected(peer_key which, bool same_host, time now);
  // There is no connection: it ended, or an attempt failed.
  void lost(peer_key which, std::string_view why, time now);
  void receive(peer_key which, std::span<const std::byte> frame, time now);
  // A beacon says that a broker is there. Anyone can send it.
  void discovered(const std::string& endpoint, std::uint64_t epoch, time now);
  // Call it at next_deadline(), which may be in the past.
  void turn(time now);
  [[nodiscard]] std::optional<time> next_deadline() const;
  // This process did not run for `how_long`, until now: that time does not count as a peer's silence.
  void held_up(time now, duration how_long);

  [[nodiscard]] wire::peer_list list(time now) const;
  [[nodiscard]] std::size_t peers_up() const noexcept;
  [[nodiscard]] std::uint64_t rejected() const noexcept { return rejected_; }  // answers that broke a rule

 private:
  struct peer_broker {
    std::string endpoint;  // empty: the key is free
    std::string host_name;
    wire::peer_state state = wire::peer_state::connecting;
    std::string reason;
    bool connected = false;
    bool same_host = false;
    bool known = false;  // the map has it
    std::optional<time> last_word;
    time silent_at{};  // while it is connected
    wire::watch_position position;
    std::uint64_t last_request = 0;
    std::uint64_t watch = 0;            // the request that waits for its answer; 0: none
    std::uint64_t schema = 0;           // same
    time next_ask{};                    // for changes, while `watch` is 0
    std::uint64_t epoch = 0;            // of its last run that answered
    time settled_at{};                  // programs there have registered again after a restart
    bool reporting = false;             // a full report is under way
    bool unswept = false;               // the map still has what that report left out
    time full_report_at{};              // the next one because of what the map misses, at the earliest
    std::size_t reported = 0;           // topics and pages since the last answer without more
    std::set<std::uint64_t> lacking;    // hashes of types
    wire::get_schema asked;             // the part that `schema` asks for
    std::optional<time> schemas_after;  // a peer may not have a schema yet
    bool discovered = false;
    time discovered_at{};
    time beacon_at{};  // the last one
    // Where else beacons of the same run were heard, and when last: a host may have some interfaces. The newest first.
    std::vector<std::pair<std::string, time>> elsewhere;
    std::string moved_to;                // that the challenge is about
    std::optional<time> connected_at;    // until the first answer
    duration trip{};                     // the time that its first answer took
    std::uint64_t challenge = 0;         // the request that asks whether it is still here; 0: none
    std::optional<time> challenge_ends;  // until then it has time; nothing: it is not asked, or said something
    [[nodiscard]] bool is_up() const noexcept { return connected && state == wire::peer_state::up; }
  };

  void on(peer_key which, wire::changes& what, time now);
  void on(peer_key which, const wire::schema_part& what, time now);
  void end_report(peer_key which, time now);
  bool take(peer_key which, wire::topic_state& state, time now);
  void ask(peer_key which, time now);
  void ask_for_schema(peer_key which, time now);
  void request(peer_key which, std::uint64_t& number, wire::body content);
  void broken(peer_key which, const std::string& why, time now);
  void forget(peer_key which, time now);
  void remove(peer_key which);
  void challenge(peer_key which, const std::string& elsewhere, time now);
  // A key for one more discovered peer. Nothing: there is none.
  [[nodiscard]] std::optional<peer_key> free_key(time now);
  // Another peer that is up and claims the same run of a broker.
  [[nodiscard]] std::optional<peer_key> twin_of(peer_key which, std::uint64_t epoch) const;
  [[nodiscard]] std::string label_of(peer_key which) const;
  [[nodiscard]] static std::string named(const peer_broker& which);

  const options options_;
  topic_map& map_;
  owner& world_;
  std::vector<peer_broker> peers_;  // configured ones first, at most wire::max_peers
  time next_discovery_{};
  std::uint64_t rejected_ = 0;
};

}  // namespace orc
