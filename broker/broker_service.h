// What the address broker does with each message: the protocol of schemas/PROTOCOL.md on top of a topic_map. It knows
// no sockets, no clock and no threads: frames come in and go out through functions, so tests and fuzzers can drive it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <unordered_set>
#include <vector>

#include "broker_log.h"
#include "topic_map.h"
#include "wire/control.h"
#include "wire/process_identity.h"

namespace orc {

struct broker_service_options {
  topic_map::duration lease{3'000};
  topic_map::duration heartbeat{1'000};
  topic_map::duration probe_timeout{500};
  topic_map_limits limits;
  bool remote = false;
  std::string version;
  std::string host = detail::host_identity();
  std::function<detail::process_state(std::uint32_t pid, std::uint64_t start_time)> check_process =
      detail::check_process;
  std::function<bool(std::uint32_t pid)> pid_is_gone = detail::pid_is_gone;
  broker_log log;
};

class broker_service {
 public:
  using time = topic_map::time;
  using routing = topic_map::routing;
  // False: the connection is there but takes nothing at the moment, so this message is lost to it.
  using send_function = std::function<bool(const routing& to, const std::string& frame)>;

  broker_service(broker_service_options options, send_function send, time started);

  // One frame of a message [from][frame]; an empty one is the greeting of ZMQ_PROBE_ROUTER.
  void receive(const routing& from, std::span<const std::byte> frame, time now);
  // Counts a message that could not even be handed to receive().
  void reject(std::string_view why);
  // Every heartbeat period: leases, dead processes on this host.
  void tick(time now);
  // When next_deadline() has come: probes that nobody answered.
  void settle_overdue_probes(time now);
  [[nodiscard]] std::optional<time> next_deadline() const;
  // This process did not run for a while: nobody may lose a lease for that.
  void held_up(time now) { map_.renew_all(now); }

  struct counters {
    std::uint64_t messages = 0;
    std::uint64_t rejected = 0;   // malformed frames and messages of several parts
    std::uint64_t events = 0;     // frames pushed
    std::uint64_t unsent = 0;     // frames lost to slow connections
    std::uint64_t takeovers = 0;  // topics taken over from dead holders
  };
  [[nodiscard]] const counters& counted() const noexcept { return counters_; }
  [[nodiscard]] const topic_map& map() const noexcept { return map_; }
  [[nodiscard]] std::uint64_t epoch() const noexcept { return epoch_; }

 private:
  struct pending {  // a RegisterTopic that waits for the holder of its topic to prove that it lives
    routing from;
    std::uint64_t request = 0;
    wire::register_topic what;
  };
  struct probing {
    std::uint64_t request = 0;
    time deadline;
    std::vector<pending> waiting;
  };

  void dispatch(const routing& from, wire::envelope& message, time now);
  void handle(const routing& from, std::uint64_t request, wire::hello& what, time now);
  void handle(const routing& from, std::uint64_t request, wire::register_topic& what, time now);
  void handle(const routing& from, std::uint64_t request, const wire::unregister_topic& what, time now);
  void handle(const routing& from, std::uint64_t request, const wire::request_topic& what, time now);
  void handle(const routing& from, std::uint64_t request, const wire::release_topic& what, time now);
  void handle(const routing& from, std::uint64_t request, const wire::heartbeat& what, time now);
  void handle(const routing& from, std::uint64_t request, const wire::goodbye& what, time now);
  void handle(const routing& from, std::uint64_t request, const wire::alive& what, time now);
  void handle(const routing& from, std::uint64_t request, const wire::list_topics& what, time now);
  void handle(const routing& from, std::uint64_t request, const wire::describe_topic& what, time now);
  template <class NotARequest>
  void handle(const routing& from, std::uint64_t request, const NotARequest& what, time now);

  void register_for(pending asked, const std::optional<wire::id>& alive_holder, time now);
  [[nodiscard]] bool holder_is_dead(const topic_map::held& held) const;
  [[nodiscard]] bool holder_is_alive(const topic_map::held& held) const;
  void probe(const topic_map::held& held, pending asked, time now);
  void settle(const wire::id& holder, bool alive, time now);
  void take_over_from(const wire::id& holder, std::string_view how);

  [[nodiscard]] wire::welcome welcome() const;
  void greet(const routing& to, std::uint64_t request);
  bool reply(const routing& to, std::uint64_t request, wire::body content);
  void finish(const routing& to, std::uint64_t request, const topic_map::done& result);
  void push(const topic_map::events& events);
  void log(broker_log_level level, const std::string& text) const;

  const broker_service_options options_;
  const send_function send_;
  const time started_;
  const std::uint64_t epoch_;
  topic_map map_;
  counters counters_;
  std::map<wire::id, probing> probes_;  // by holder
  std::size_t waiting_ = 0;
  std::uint64_t last_probe_ = 0;
  // Participants that lost an event: their next message is answered with unknown_participant, so that they register and
  // request everything again and learn the state of their topics.
  std::unordered_set<routing> out_of_date_;
  std::uint64_t reported_rejected_ = 0;
  std::string last_rejection_;
};

}  // namespace orc
