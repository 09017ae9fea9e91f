// The table of the address broker: who publishes which topic where, and who asked for it. Pure state: no I/O, no clock
// (callers pass the monotonic time), no threads. One owner at a time.
#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <variant>
#include <vector>

#include "wire/control.h"

namespace orc {

struct topic_map_limits {
  std::size_t topics = 65'536;
  std::size_t participants = 4'096;
  std::size_t subscriptions = 1'048'576;
  std::size_t schema_bytes = std::size_t{64} << 20;  // all type descriptions together
};

class topic_map {
 public:
  using time = std::chrono::steady_clock::time_point;
  using duration = std::chrono::milliseconds;
  // Address of a participant's connection, as the ROUTER socket names it. Opaque bytes.
  using routing = std::string;

  // The state of a topic changed: to be sent to these participants, each once.
  struct event {
    std::vector<routing> to;
    wire::topic_state state;
  };
  using events = std::vector<event>;

  // Another participant holds the topic. Whether it still lives is for the caller to find out.
  struct held {
    wire::id participant;
    wire::hello holder;
    std::string refusal;  // what to tell the requester if the holder lives
  };
  using registered = std::variant<wire::topic_state, held, wire::error>;
  using requested = std::variant<wire::topic_state, wire::error>;
  using done = std::optional<wire::error>;  // nothing: fine

  explicit topic_map(duration lease, topic_map_limits limits = {});

  // A participant introduces itself. The same participant (id and process) from a new connection moves there with all
  // it has. Another participant that used this connection before is removed.
  [[nodiscard]] done hello(const routing& from, const wire::hello& who, time now, events& out);

  // Any message of a participant renews its lease. False: this connection belongs to no participant.
  [[nodiscard]] bool renew(const routing& from, time now);

  // All of these return unknown_participant when `from` belongs to no participant, and may be repeated without harm.
  [[nodiscard]] registered register_topic(const routing& from, const wire::register_topic& what, events& out);
  [[nodiscard]] done unregister_topic(const routing& from, const wire::unregister_topic& what, events& out);
  [[nodiscard]] requested request_topic(const routing& from, const wire::request_topic& what);
  [[nodiscard]] done release_topic(const routing& from, const wire::release_topic& what);
  [[nodiscard]] done heartbeat(const routing& from, const wire::heartbeat& counters, time now);
  void goodbye(const routing& from, events& out);

  // Removes a participant that is known to be dead, with everything it registered and requested.
  void remove(const wire::id& participant, events& out);
  // Removes those whose lease ran out. Returns how many.
  std::size_t expire(time now, events& out);
  // The broker itself was held up and could not see the renewals: everybody gets a full lease from now on.
  void renew_all(time now);

  // For tools: names after `after` in byte order, with counters and subscriptions; at most `limit` (0: page_limit).
  // participants is filled in, epoch and uptime are the caller's.
  static constexpr std::size_t page_limit = 512;
  [[nodiscard]] wire::topic_list list(std::string_view after, std::size_t limit, time now) const;
  [[nodiscard]] requested describe(std::string_view topic, time now) const;

  struct participant_view {
    wire::id id;
    const wire::hello& hello;
  };
  [[nodiscard]] std::vector<participant_view> participants() const;
  [[nodiscard]] const routing* route_of(const wire::id& participant) const;
  [[nodiscard]] std::optional<wire::id> participant_at(const routing& from) const;

  [[nodiscard]] std::size_t topic_count() const noexcept { return topics_.size(); }
  [[nodiscard]] std::size_t participant_count() const noexcept { return participants_.size(); }
  [[nodiscard]] std::size_t subscription_count() const noexcept { return subscription_count_; }
  [[nodiscard]] std::size_t schema_bytes() const noexcept { return schema_bytes_; }

 private:
  struct participant;

  struct publication {
    wire::id id;
    participant* holder = nullptr;
    std::vector<wire::endpoint> endpoints;
    std::optional<wire::type_description> type;  // its schema is in schemas_ when the hash is not 0
    std::optional<wire::publication_counters> counters;
    time counted_at{};
  };
  struct subscription {
    participant* holder = nullptr;
    std::optional<wire::subscription_counters> counters;
    time counted_at{};
  };
  struct topic {
    std::optional<publication> publisher;
    std::map<wire::id, subscription> subscriptions;
  };
  using topics = std::map<std::string, topic, std::less<>>;  // ordered for list()

  struct participant {
    wire::hello hello;
    routing route;
    time expires{};
    std::map<wire::id, topics::iterator> publications;
    std::map<wire::id, topics::iterator> subscriptions;
  };
  struct shared_schema {
    std::string bytes;
    std::size_t users = 0;
  };

  participant* find(const routing& from);
  topics::iterator entry(const std::string& name);
  void erase_if_unused(topics::iterator at);
  void drop_publication(topics::iterator at);
  [[nodiscard]] done check_type(const wire::register_topic& what) const;
  void keep_schema(wire::type_description& type);
  void release_schema(const wire::type_description& type);
  static void notify(topics::iterator at, events& out);
  static wire::topic_state state_of(topics::const_iterator at);
  static wire::topic_state full_state(topics::const_iterator at, time now);
  static std::string refusal(topics::const_iterator at);

  const duration lease_;
  const topic_map_limits limits_;
  topics topics_;
  std::map<wire::id, participant> participants_;  // nodes are stable: entries of topics_ point to them
  std::unordered_map<routing, participant*> by_route_;
  std::unordered_map<std::uint64_t, shared_schema> schemas_;
  std::size_t subscription_count_ = 0;
  std::size_t schema_bytes_ = 0;
};

}  // namespace orc
