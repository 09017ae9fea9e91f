// What the topic map keeps about each topic, publication, subscription and participant. Plain data, which the parts of
// the map share.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "broker/connections/peer.h"
#include "broker/map/change_log.h"
#include "broker/map/client_table.h"
#include "broker/map/type_store.h"
#include "wire/control.h"

namespace orc::table {

using time = std::chrono::steady_clock::time_point;
using duration = std::chrono::milliseconds;

struct participant;
struct topic;
using row = std::pair<const std::string, topic>;
using topics = std::map<std::string, topic, std::less<>>;  // ordered for pages
using event_queue = std::multimap<time, row*>;

template <class Counters>
struct counted {
  Counters counters;
  time at;
};

// The publisher, where a peer broker holds the publication.
struct origin {
  wire::id participant;
  std::string name;
  std::string host;
  std::uint32_t pid = 0;
  std::string client;
  std::uint32_t client_pid = 0;
  bool operator==(const origin&) const = default;
};

struct publication {
  wire::id id;
  participant* holder = nullptr;
  std::vector<wire::endpoint> endpoints;
  const type_store::entry* type = nullptr;  // none: untyped
  bool keep_last = true;
  bool shared = false;
  std::size_t text_bytes = 0;  // of the endpoints
  time since{};                // it was registered
  std::unique_ptr<counted<wire::publication_counters>> counters;
  std::unique_ptr<origin> from;  // none: a participant of this broker
  std::uint64_t report = 0;      // of the peer broker, the last one that had it
};

struct subscription {
  participant* holder = nullptr;
  std::uint32_t max_age_ms = 0;
  const type_store::entry* type = nullptr;  // none: takes any
  std::unique_ptr<counted<wire::subscription_counters>> counters;
};

struct topic {
  // Of one participant, or of several when the topic is shared. Peer brokers may report more, which are hidden while
  // they exclude an older one.
  std::map<wire::id, publication> publishers;
  // By the id that others see: the number of the participant, then that of the subscription. So the subscriptions of
  // a participant are neighbours, and a page begins where the last one ended.
  std::map<wire::id, subscription> subscriptions;
  participant* owner = nullptr;  // the participant that brought the topic into the table
  change_log::handle change;
  std::optional<change_log::handle> exported;  // while participants of this broker publish it

  // Its event, for topic_events: queued (queued_at), or not (then the node is here, so that queueing needs no memory).
  event_queue::node_type idle;
  event_queue::iterator queued_at;
  std::uint64_t pushed_to = 0;  // participants with smaller numbers have the queued event already
  bool changed_on_the_way = false;
  time paid_until{};  // for the limit of moves: each one takes 1 / moves_per_second
};

struct requested_topic {
  topics::iterator at;
  wire::id shown;
};

// A participant of this broker, or a peer broker, which is the holder of all that it reports.
struct participant {
  explicit participant(client& payer) noexcept : by(&payer), types(payer) {}
  std::uint64_t number = 0;  // what others see of its id: {number, 0}
  wire::hello hello;         // of a peer broker: with the name of its host only
  client* by;                // the client that made the session, and pays for it also after it moved
  type_store::user types;
  std::map<wire::id, topics::iterator> publications;
  std::map<wire::id, requested_topic> subscriptions;  // by its own ids
  std::uint64_t last_subscription = 0;
  std::size_t owned_topics = 0;
  time reported_until{};              // for the limit of mismatches that it reports
  time told_until{};                  // for the limit of those that it is told of
  bool leaving = false;               // its entries are still in the table
  std::unique_ptr<participant> next;  // the next one that leaves
  change_log::handle change;

  // For leases.
  peer::via way = peer::via::ipc;
  std::uint32_t uid = 0;
  std::uint32_t pid = 0;               // by ipc, as the kernel has it; 0: not visible here
  std::optional<std::uint64_t> route;  // none: it has no connection
  time expires{};
  std::list<participant*>::iterator age;

  // For peer_reports.
  bool stale = false;
  bool same_host = false;
  bool decided_here = false;
  std::uint64_t report = 0;
  std::optional<wire::id> swept;  // a report ended, and publications up to here were looked at
};

[[nodiscard]] inline bool is_live(const publication& one) noexcept { return !one.holder->leaving; }
[[nodiscard]] inline bool is_older(const publication& one, const publication& other) noexcept {
  return one.since != other.since ? one.since < other.since : one.id < other.id;
}
// The live publication of a topic that excludes others: of a participant here, else the oldest. Null: none is live.
[[nodiscard]] const publication* leader(const topic& of) noexcept;
// Whether it is the leader or shares the topic with it.
[[nodiscard]] inline bool is_shown(const publication& one, const publication* leader) noexcept {
  return leader != nullptr && (&one == leader || (one.shared && leader->shared));
}
[[nodiscard]] bool is_shared(const topic& of) noexcept;
// The publication of `self`, which another id replaces. Null: none.
[[nodiscard]] const publication* own(const topic& of, const participant& self) noexcept;
// Whether `who` publishes or requests it.
[[nodiscard]] bool linked(const topic& to, const participant& who) noexcept;

}  // namespace orc::table
