// The table of the address broker: which participant publishes which topic where, and which ones requested it. Pure
// state: no I/O, no clock (callers pass the monotonic time), no threads. One owner at a time.
//
// No call takes longer than a few thousand steps. Longer work (a participant with many topics leaves, a topic that many
// requested moves) is done in parts, by clean_up() and next_event(). When a call throws (no memory), the table is
// unchanged.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <variant>
#include <vector>

#include "base/expected.h"
#include "change_log.h"
#include "client_table.h"
#include "peer.h"
#include "type_store.h"
#include "wire/control.h"

namespace orc {

// One client may have half of each of these (client_table).
struct topic_map_limits {
  std::size_t topics = 65'536;
  std::size_t participants = 4'096;
  std::size_t subscriptions = 262'144;
  std::size_t schema_bytes = std::size_t{64} << 20;  // types, schemas (each once), uploads and endpoints
  // Of one participant.
  std::size_t topics_each = 16'384;
  std::size_t subscriptions_each = 65'536;
  // Topics and participants that are gone and that the broker still reports to watchers.
  std::size_t gone = 16'384;
};

class topic_map {
 public:
  using time = std::chrono::steady_clock::time_point;
  using duration = std::chrono::milliseconds;
  // The key of a connection: a counter, unique for the life of the broker. Peers never see it.
  using routing = std::uint64_t;

  // An event to send: the state of a topic changed, and these participants get it, each once.
  struct event {
    std::vector<routing> to;
    wire::topic_state state;
  };

  // Another participant holds the topic. The caller finds out whether it still lives.
  struct held {
    wire::id participant;
    wire::hello holder;
    std::string refusal;  // the answer if the holder lives
  };
  using registered = std::variant<wire::topic_state, held, wire::error>;
  using requested = detail::expected<wire::topic_state, wire::error>;
  using done = detail::expected<wire::ack, wire::error>;

  static constexpr std::size_t bytes_per_endpoint = 32;  // besides its address
  static constexpr std::size_t most_left_out = 4'096;    // publications of a peer that another one has
  static constexpr std::size_t entries_at_once = 512;    // that a call removes when a participant leaves

  explicit topic_map(duration lease, topic_map_limits limits = {});
  topic_map(const topic_map&) = delete;
  topic_map& operator=(const topic_map&) = delete;
  ~topic_map();

  // A participant introduces itself. The same participant (id, secret, process, and on ipc user) from a new connection
  // moves there with all it has. Removes another participant that used this connection before.
  [[nodiscard]] done hello(routing from, const peer& by, const wire::hello& who, time now);
  // The connection is gone. Its participant stays until its lease ends, or until it moves to another connection.
  void closed(routing from) noexcept;

  // Any message of a participant renews its lease. False: this connection has no participant.
  [[nodiscard]] bool renew(routing from, time now) noexcept;

  // All of these return unknown_participant when `from` has no participant, and may be repeated without harm.
  [[nodiscard]] registered register_topic(routing from, const wire::register_topic& what, time now);
  [[nodiscard]] done unregister_topic(routing from, const wire::unregister_topic& what, time now);
  [[nodiscard]] requested request_topic(routing from, const wire::request_topic& what);
  [[nodiscard]] done release_topic(routing from, const wire::release_topic& what);
  [[nodiscard]] done heartbeat(routing from, const wire::heartbeat& counters, time now);
  void goodbye(routing from, time now) noexcept;

  // A part of the schema of a type that this participant registered or requested. After the last one, the broker checks
  // the hash.
  [[nodiscard]] done add_schema(routing from, const wire::schema_part& part, time now);
  [[nodiscard]] detail::expected<wire::schema_part, wire::error> schema(const wire::get_schema& what) const {
    return types_.read(what);
  }
  [[nodiscard]] bool has_schema(std::uint64_t hash) const noexcept { return types_.has_schema(hash); }

  // A participant reports that a publication's type does not match the one that its subscription expects. Returns what
  // to tell the publisher; nothing: that is not so any more, or there were too many reports. A participant may send
  // reports_at_once, and then as many per second. A publisher gets told_at_once, and then as many per second, so one
  // participant cannot use up what the others may send.
  static constexpr int reports_at_once = 10;
  static constexpr int told_at_once = 100;
  struct mismatch_news {
    routing to;
    wire::type_mismatch what;
  };
  using reported = detail::expected<std::optional<mismatch_news>, wire::error>;
  [[nodiscard]] reported report_mismatch(routing from, wire::type_mismatch&& what, time now);

  // Removes a participant that is known to be dead, with everything that it registered and requested.
  void remove(const wire::id& participant, time now) noexcept;
  // Same for one of many: leaves its entries to clean_up().
  void retire(const wire::id& participant) noexcept;
  // Removes participants whose lease ran out, at most `most`. One with unread messages (`unread`) is late because the
  // broker is late, and gets a full lease. Returns how many were removed.
  std::size_t expire(time now, std::size_t most, const std::function<bool(routing)>& unread = {}) noexcept;
  [[nodiscard]] bool any_late(time now) const noexcept { return !by_age_.empty() && by_age_.front()->expires <= now; }
  // The broker itself was delayed and could not see renewals: every participant gets a full lease from now on.
  void renew_all(time now) noexcept;

  // Participants that left may leave entries behind. Their topics are free, but they count. Removes at most `most`.
  void clean_up(time now, std::size_t most) noexcept;
  [[nodiscard]] bool clean() const noexcept { return leaving_ == nullptr && sweeping_ == 0; }

  // Returns an event that is due, for at most `budget` participants, and reduces `budget` by them. A topic that moves
  // more often than moves_at_once and then moves_per_second makes no events in between: the next one has its newest
  // state.
  static constexpr int moves_at_once = 10;
  static constexpr int moves_per_second = 10;
  [[nodiscard]] std::optional<event> next_event(time now, std::size_t& budget);
  [[nodiscard]] std::optional<time> next_event_time() const noexcept;

  // For tools: topics with names after `after` in byte order, with counters and a few subscriptions; at most `limit`
  // (0: page_limit), and as many as fit into a frame. Fills in participants; epoch and uptime are the caller's.
  static constexpr std::size_t page_limit = 512;
  static constexpr std::size_t listed_subscriptions = 16;
  [[nodiscard]] wire::topic_list list(std::string_view after, std::size_t limit, time now) const;
  // Subscriptions after `after`, at most described_subscriptions.
  static constexpr std::size_t described_subscriptions = 256;
  [[nodiscard]] requested describe(const wire::describe_topic& what, time now) const;

  // For watchers: returns the states of what changed since `what.position`, with neither counters nor subscriptions, as
  // far as they fit into a frame. Begins anew when there is no position, or none that can be continued. Takes about
  // `steps` of work and subtracts what it took, but looks at one change at least. The caller sets position.epoch.
  [[nodiscard]] wire::changes changes_since(const wire::watch& what, std::size_t& steps) const;
  [[nodiscard]] change_log::revision newest_change() const noexcept { return changes_.newest(); }

  // ---- what peer brokers report (topic_map_peers.cpp) and see (topic_map_exports.cpp) ----
  // One of them, as the caller numbers them.
  using peer_key = std::size_t;

  struct peer_facts {
    std::string endpoint;  // names it as a client that pays for its topics
    std::string host_name;
    bool same_host = false;
    bool discovered = false;  // by its beacon, which anyone can send
    // Of every two brokers, one decides which of their publications gets a name, and tells the other.
    bool decided_here = false;
  };
  // A peer broker answers: its topics are not stale any more.
  void peer_up(peer_key which, const peer_facts& what);
  // It does not answer. Its topics stay, and states say so.
  void peer_stale(peer_key which) noexcept;
  // Forgets it with its topics.
  void peer_gone(peer_key which, time now) noexcept;
  // It reports everything from here on. What it has not reported until end_report() is gone then.
  void begin_report(peer_key which) noexcept;
  void end_report(peer_key which) noexcept;
  [[nodiscard]] std::size_t topics_of(peer_key which) const noexcept;
  // Whether import() left out a publication because another participant had it, which does not have it any more. Then
  // only a full report brings it. begin_report() ends that.
  [[nodiscard]] bool misses_any(peer_key which) const noexcept;

  // A publication of a participant here that an older one on another host displaced.
  struct displaced {
    wire::id participant;
    std::string text;  // for the log
  };
  struct imported {
    std::vector<displaced> lost;
    std::vector<std::string> contested;  // for the log: publications of the peer that an older one keeps hidden
    std::vector<std::uint64_t> lacking;  // hashes of types without a schema here
  };
  // Takes the publications of one topic that a peer broker reports in place of those that it reported before. Of
  // publications that exclude each other, the older one wins where this broker decides. Where the peer does, its report
  // names those that lose. Returns an error when the report breaks a rule or a table is full. The caller has checked
  // the endpoints.
  [[nodiscard]] detail::expected<imported, wire::error> import(peer_key which, wire::topic_state&& what, time now);
  [[nodiscard]] done add_schema_of_peer(peer_key which, const wire::schema_part& part, time now);
  // Whether a publication that it reported has a type with this hash.
  [[nodiscard]] bool peer_uses_type(peer_key which, std::uint64_t hash) const noexcept;

  // For peer brokers: as changes_since(), of what participants of this broker publish at endpoints that other hosts
  // reach. `same_host`: the peer runs on this host, and reaches loopback addresses too.
  [[nodiscard]] wire::changes exports_since(const wire::watch& what, bool same_host, std::size_t& steps,
                                            time now) const;
  [[nodiscard]] change_log::revision newest_export() const noexcept { return exports_.newest(); }
  [[nodiscard]] std::size_t own_topic_count() const noexcept { return exported_; }

  struct participant_view {
    wire::id id;
    const wire::hello& hello;
  };
  // At most `most` participants with ids greater than `after`, in order.
  [[nodiscard]] std::vector<participant_view> participants_after(const wire::id& after, std::size_t most) const;
  [[nodiscard]] bool knows(const wire::id& who) const { return participants_.contains(who); }
  [[nodiscard]] std::optional<routing> route_of(const wire::id& who) const;
  [[nodiscard]] std::optional<wire::id> participant_at(routing from) const;
  // The id that others see instead of its own; none: unknown.
  [[nodiscard]] wire::id shown_id_of(const wire::id& who) const;

  [[nodiscard]] std::size_t topic_count() const noexcept { return topics_.size(); }
  [[nodiscard]] std::size_t participant_count() const noexcept { return participants_.size(); }
  [[nodiscard]] std::size_t subscription_count() const noexcept { return subscription_count_; }
  [[nodiscard]] std::size_t description_bytes() const noexcept { return types_.bytes() + text_bytes_; }
  [[nodiscard]] const type_store& types() const noexcept { return types_; }

 private:
  struct participant;
  struct topic;
  using topic_table = std::map<std::string, topic, std::less<>>;  // ordered for list()
  using event_queue = std::multimap<time, const std::string*>;    // names of topics

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
    // Its event: queued (queued_at), or not (then the node is here, so that queueing needs no memory).
    event_queue::node_type idle;
    event_queue::iterator queued_at;
    std::uint64_t pushed_to = 0;  // participants with smaller numbers have the queued event already
    bool changed_on_the_way = false;
    time paid_until{};  // for the limit of moves: each one takes 1 / moves_per_second
    change_log::handle change;
    std::optional<change_log::handle> exported;  // while participants of this broker publish it
  };

  struct requested_topic {
    topic_table::iterator at;
    wire::id shown;
  };
  using requested_table = std::map<wire::id, requested_topic>;  // of a participant, by its own ids
  struct participant {
    explicit participant(client& payer) noexcept : by(&payer), types(payer) {}
    std::uint64_t number = 0;  // what others see of its id: {number, 0}
    wire::hello hello;
    peer::via way = peer::via::ipc;
    std::uint32_t uid = 0;
    client* by;  // the client that made the session, and pays for it also after it moved
    type_store::user types;
    std::optional<routing> route;
    time expires{};
    std::list<participant*>::iterator age;
    change_log::handle change;
    std::map<wire::id, topic_table::iterator> publications;
    requested_table subscriptions;
    std::uint64_t last_subscription = 0;
    std::size_t owned_topics = 0;
    time reported_until{};  // for the limit of mismatches that it reports
    time told_until{};      // for the limit of those that it is told of
    bool leaving = false;
    std::unique_ptr<participant> next;  // the next one that leaves
    // Of a peer broker, which is the holder of all that it reports. Its hello has the name of its host.
    bool is_peer = false;
    bool stale = false;
    bool same_host = false;
    bool decided_here = false;
    std::uint64_t report = 0;
    std::optional<wire::id> swept;  // a report ended, and publications up to here were looked at
    std::set<wire::id> left_out;    // of its report: live publications of others
    bool misses_any = false;        // one of them is not live any more
  };

  participant* find(routing from) const;
  [[nodiscard]] static bool may_move(const participant& session, const peer& by, const wire::hello& who);
  void touch(participant& session, time now) noexcept;
  void retire(participant& session) noexcept;

  [[nodiscard]] done room_for_topic(const participant& self) const;
  // The type that a message declares. nullptr: none, or an empty description.
  [[nodiscard]] static const wire::type_reference* declared(const std::optional<wire::type_reference>& type);
  // Checks a type, and the room for it and for endpoints of `text` bytes that take the place of `replaced` bytes.
  [[nodiscard]] done check_type(const wire::type_reference* type, const participant& self, std::size_t text = 0,
                                std::size_t replaced = 0) const;
  [[nodiscard]] done room_for_bytes(std::size_t total, std::size_t of_client, const participant& self) const;
  [[nodiscard]] static wire::error in_topic(const std::string& topic, wire::error why);
  [[nodiscard]] static wire::error no_participant();
  topic_table::iterator entry(const std::string& name, participant& owner);
  void unlinked(topic_table::iterator at) noexcept;
  void release(const publication& gone) noexcept;
  void release(const subscription& gone) noexcept;
  void drop_publication(topic_table::iterator at, const wire::id& which) noexcept;
  void drop_subscription(participant& of, requested_table::iterator which) noexcept;
  [[nodiscard]] static bool is_live(const publication& one) noexcept { return !one.holder->leaving; }
  // The live publication of a topic that excludes others: of a participant here, else the oldest. Null: none is live.
  static const publication* leader(const topic& of) noexcept;
  // Whether it is the leader or shares the topic with it.
  [[nodiscard]] static bool is_shown(const publication& one, const publication* leader) noexcept {
    return leader != nullptr && (&one == leader || (one.shared && leader->shared));
  }
  [[nodiscard]] static bool is_shared(const topic& of) noexcept {
    const auto* const first = leader(of);
    return first != nullptr && first->shared;
  }
  // The place of a publication with its type, made if it is new: all that can fail. Changes nothing on failure, except
  // that it removes a topic that nothing uses.
  struct reserved {
    publication* slot;
    const type_store::entry* type;
  };
  [[nodiscard]] detail::expected<reserved, wire::error> reserve(topic_table::iterator at, participant& self,
                                                                const wire::id& which,
                                                                const wire::type_reference* type);
  // Gives the place a new publication. Releases the earlier one.
  void replace(publication& slot, publication&& fresh) noexcept;
  // Takes a peer's report into a topic. When it returns an error or throws, part of it may be done.
  [[nodiscard]] done merge(topic_table::iterator& at, participant& self, wire::topic_state& what, imported& into,
                           bool& moved, time now);
  [[nodiscard]] detail::expected<bool, wire::error> import(topic_table::iterator& at, participant& self,
                                                           const std::string& name, wire::publication_info& info,
                                                           bool shared, imported& into, time now);
  [[nodiscard]] static bool is_older(const publication& one, const publication& other) noexcept {
    return one.since != other.since ? one.since < other.since : one.id < other.id;
  }
  // `news`: the report of `reporter` has some.
  void resolve(topic_table::iterator at, const participant& reporter, imported& into, bool news);
  void obey(topic_table::iterator at, const participant& peer, const std::vector<wire::id>& losers, imported& into);
  void displace(topic_table::iterator at, const wire::id& loser, const publication& winner, imported& into);
  [[nodiscard]] static wire::topic_state exported_state(topic_table::const_iterator at, bool same_host, time now);
  void end_export(topic_table::iterator at) noexcept;
  void sweep(participant& peer, time now, std::size_t& most) noexcept;
  // A live publication of another participant because of which `self` cannot publish the topic this way. Null: none.
  static const publication* obstacle(const topic& of, const participant& self, const wire::register_topic& what);
  // Whether the host of a peer broker reaches one of these.
  [[nodiscard]] static bool reaches(const std::vector<wire::endpoint>& endpoints, const participant& peer);
  // The publication of `self`, which another id replaces. Null: none.
  static const publication* own(const topic& of, const participant& self);
  // Whether a shared topic has room for one more publication, or for this one in place of `own`. Those of peers take
  // the room that is left.
  [[nodiscard]] static done room_for_publication(topic_table::const_iterator at, const participant& self,
                                                 const wire::register_topic& what);
  static bool linked(const topic& to, const participant& who);
  // A table as one client finds it: of all that is used, and the limit. Discovered brokers find their common half.
  struct table_use {
    std::size_t all;
    std::size_t limit;
  };
  [[nodiscard]] table_use open_to(const participant& self, std::size_t all, std::size_t limit,
                                  std::size_t client::*of) const;
  static void leave_out(participant& peer, const wire::id& which);
  // A publication ended, so peers that reported it too have to report it again.
  void missed(const wire::id& which) noexcept;

  void notify(topic_table::iterator at, time now) noexcept;
  void enqueue(topic_table::iterator at, time now) noexcept;
  void dequeue(topic_table::iterator at) noexcept;

  static wire::topic_state state_of(topic_table::const_iterator at);
  // The live publications of a shared topic: those of participants here, then one of each peer broker, then the next
  // one of each. A state has room for the first ones.
  static std::vector<const publication*> shared_in_turns(const topic& of);
  static wire::topic_state full_state(topic_table::const_iterator at, const wire::id& after, std::size_t most,
                                      time now);
  static wire::publication_info info_of(const publication& from);
  static std::string refusal(topic_table::const_iterator at, const publication& by, const std::string& asking_host);

  const duration lease_;
  const topic_map_limits limits_;
  topic_table topics_;
  std::map<wire::id, std::unique_ptr<participant>> participants_;
  std::unique_ptr<participant> leaving_;
  std::size_t leaving_count_ = 0;
  std::list<participant*> by_age_;  // the next lease to end comes first
  std::unordered_map<routing, participant*> by_route_;
  client_table clients_;
  type_store types_;
  event_queue events_;
  change_log changes_;
  change_log exports_;
  std::size_t exported_ = 0;
  std::map<peer_key, std::unique_ptr<participant>> peers_;
  std::size_t sweeping_ = 0;
  std::uint64_t last_number_;
  std::size_t subscription_count_ = 0;
  std::size_t text_bytes_ = 0;
};

}  // namespace orc
