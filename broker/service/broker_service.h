// The address broker's handling of each message: the protocol of schemas/PROTOCOL.md on top of a topic_map. It has no
// sockets, no clock and no threads. Frames come and go through functions, so tests and fuzzers can drive it.
//
// No call takes more than a few milliseconds, whatever the tables hold. turn() does long work in parts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/process/process_identity.h"
#include "broker/broker_log.h"
#include "broker/connections/peer.h"
#include "broker/federation/federation.h"
#include "broker/map/endpoint_rules.h"
#include "broker/map/topic_map.h"
#include "broker/service/waiting_registrations.h"
#include "broker/service/watchers.h"
#include "wire/control.h"

namespace orc {

struct broker_service_options {
  topic_map::duration lease{3'000};
  topic_map::duration heartbeat{1'000};
  topic_map::duration probe_timeout{500};  // and two round trips
  topic_map_limits limits;
  std::vector<address_range> allowed_endpoints;
  bool remote = false;
  std::string version;
  std::uint64_t epoch = wire::id::random().lo;  // of this run
  std::string host = detail::host_identity();
  std::function<detail::process_state(std::uint32_t pid, std::uint64_t start_time)> check_process =
      detail::check_process;
  std::function<bool(std::uint32_t pid)> pid_is_gone = detail::pid_is_gone;
  // True: the connection has bytes that were not received yet, so its participant keeps its lease. Empty: none ever
  // has.
  std::function<bool(topic_map::routing)> unread;
  // Of the connection's network; a probe over it may take two more. Empty: 0.
  std::function<topic_map::duration(topic_map::routing)> round_trip;
  std::function<std::optional<std::uint64_t>(std::uint32_t pid)> start_time = detail::process_start_time;
  // Peer brokers. Their connections are the caller's, who numbers them as in `peers`.
  std::vector<std::string> peers = {};
  std::string host_name = "this host";
  topic_map::duration peer_lease{60'000};
  std::function<bool(peer_reports::peer_key, const std::string& frame)> send_to_peer;
  std::function<void(peer_reports::peer_key, topic_map::duration pause)> close_peer;
  std::function<void(peer_reports::peer_key, const std::string& endpoint)> add_peer;  // see federation::owner
  std::function<void(peer_reports::peer_key)> remove_peer;
  broker_log log;
};

class broker_service final : federation::owner {
 public:
  using time = topic_map::time;
  using routing = topic_map::routing;
  // False: the connection takes nothing more, so the message is lost.
  using send_function = std::function<bool(routing to, const std::string& frame)>;

  broker_service(broker_service_options options, send_function send, time started);

  // A connection came. Nothing is received from or sent to a connection before opened() or after closed().
  void opened(routing from, const peer& who);
  // A connection is gone. Its participant stays until its lease ends, or until it moves to another connection.
  void closed(routing from, time now);
  // Takes one frame of a message. An empty one is the greeting of ZMQ_PROBE_ROUTER.
  void receive(routing from, std::span<const std::byte> frame, time now);
  // Of a connection to a peer broker, as federation has it.
  void peer_connected(peer_reports::peer_key which, bool same_host, time now);
  void peer_lost(peer_reports::peer_key which, std::string_view why, time now);
  void receive_from_peer(peer_reports::peer_key which, std::span<const std::byte> frame, time now);
  void peer_discovered(const std::string& endpoint, std::uint64_t epoch, time now);
  // Counts a message that could not be passed to receive().
  void reject(std::string_view why);
  // Call it every heartbeat period. Checks leases, and for dead processes on this host.
  void tick(time now);
  // Call it at next_deadline(), which may be in the past. Serves overdue probes, events, and the next part of long
  // work.
  void turn(time now);
  [[nodiscard]] std::optional<time> next_deadline() const;
  // This process did not run for `how_long`, until now: no participant or peer broker loses its lease for that.
  void held_up(time now, topic_map::duration how_long);

  struct counters {
    std::uint64_t messages = 0;
    std::uint64_t rejected = 0;   // malformed frames and messages of several parts
    std::uint64_t events = 0;     // frames pushed
    std::uint64_t unsent = 0;     // frames lost to slow connections
    std::uint64_t takeovers = 0;  // topics taken over from dead holders
  };
  [[nodiscard]] const counters& counted() const noexcept { return counters_; }
  [[nodiscard]] const topic_map& map() const noexcept { return map_; }
  [[nodiscard]] std::size_t peers_up() const noexcept { return federation_.peers_up(); }
  [[nodiscard]] std::uint64_t epoch() const noexcept { return epoch_; }

 private:
  using registration = waiting_registrations::registration;
  struct connection {
    peer who;
    std::string client;
    // The connection lost an event, or a publication of its participant lost the name. Its next message is answered
    // with unknown_participant. So the participant registers and requests everything again, and learns the state of its
    // topics.
    bool out_of_date = false;
    std::string displaced = {};  // the reason; empty: a lost event
  };

  void dispatch(routing from, connection& by, wire::envelope& message, time now);
  void handle(routing from, std::uint64_t request, wire::hello& what, time now);
  void handle(routing from, std::uint64_t request, wire::register_topic& what, time now);
  void handle(routing from, std::uint64_t request, const wire::unregister_topic& what, time now);
  void handle(routing from, std::uint64_t request, const wire::request_topic& what, time now);
  void handle(routing from, std::uint64_t request, const wire::release_topic& what, time now);
  void handle(routing from, std::uint64_t request, wire::heartbeat& what, time now);
  void handle(routing from, std::uint64_t request, const wire::goodbye& what, time now);
  void handle(routing from, std::uint64_t request, const wire::alive& what, time now);
  void handle(routing from, std::uint64_t request, const wire::list_topics& what, time now);
  void handle(routing from, std::uint64_t request, const wire::describe_topic& what, time now);
  void handle(routing from, std::uint64_t request, wire::watch& what, time now);
  void handle(routing from, std::uint64_t request, const wire::schema_part& what, time now);
  void handle(routing from, std::uint64_t request, const wire::get_schema& what, time now);
  void handle(routing from, std::uint64_t request, wire::type_mismatch& what, time now);
  void handle(routing from, std::uint64_t request, const wire::list_peers& what, time now);
  template <class NotARequest>
  void handle(routing from, std::uint64_t request, const NotARequest& what, time now);

  void identify(wire::hello& what, const peer& by) const;
  void register_for(registration asked, const std::optional<wire::id>& alive_holder, time now);
  [[nodiscard]] detail::process_state state_of(const topic_map::held& held) const;
  void probe(const topic_map::held& held, registration asked, time now);
  void take_over_from(const wire::id& holder, std::string_view how, time now);

  void work(time now);
  void check_processes();
  void push_events(time now);
  [[nodiscard]] wire::changes news_for(routing who, wire::watch& what, std::size_t& steps, time now);
  void serve_watchers(watchers& all, change_log::revision newest, time now);
  [[nodiscard]] bool is_on_this_host(const peer& who, time now);

  // ---- for federation ----
  bool send(peer_reports::peer_key to, const std::string& frame) override;
  void close(peer_reports::peer_key which, topic_map::duration pause) override;
  void add(peer_reports::peer_key which, const std::string& endpoint) override;
  void remove(peer_reports::peer_key which) override;
  void displaced(const peer_reports::displaced& which) override;

  [[nodiscard]] wire::welcome welcome() const;
  void greet(routing to, std::uint64_t request);
  bool reply(routing to, std::uint64_t request, wire::body content);
  template <class Answer>
  void finish(routing to, std::uint64_t request, detail::expected<Answer, wire::error> result) {
    reply(to, request, result ? wire::body(std::move(*result)) : std::move(result).error());
  }
  [[nodiscard]] std::string named(const wire::hello& who) const;
  void log(broker_log_level level, const std::string& text) override;

  const broker_service_options options_;
  const send_function send_;
  const time started_;
  const std::uint64_t epoch_;
  topic_map map_;
  endpoint_rules rules_;
  std::unordered_map<routing, connection> connections_;  // open ones
  waiting_registrations waiting_;
  federation federation_;
  watchers watchers_;
  watchers peer_watchers_;  // peer brokers, which watch the topics of this broker's own participants
  counters counters_;
  std::optional<wire::id> checked_;  // the last participant whose process was checked in this period
  bool leases_to_end_ = false;
  int lines_left_;  // in this period, so that strangers cannot fill the log
  std::uint64_t lines_dropped_ = 0;
  std::uint64_t reported_rejected_ = 0;
  std::string last_rejection_;
};

}  // namespace orc
