// The table of the address broker: which participant publishes which topic where, and which ones requested it. Pure
// state: no I/O, no clock (callers pass the monotonic time), no threads. One owner at a time.
//
// topic_map decides what participants of this broker may do. The rows are in map_table. Beside it are leases (who is
// here), departures (who left), peer_reports (what other brokers have), exported_topics (what these see), topic_events.
//
// No call takes longer than a few thousand steps. Longer work (a participant with many topics leaves, a topic that many
// requested moves) is done in parts, by clean_up() and next_event(). When a call throws (no memory), the table is
// unchanged.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/expected.h"
#include "broker/connections/peer.h"
#include "broker/map/change_log.h"
#include "broker/map/departures.h"
#include "broker/map/exported_topics.h"
#include "broker/map/leases.h"
#include "broker/map/map_table.h"
#include "broker/map/peer_reports.h"
#include "broker/map/table_records.h"
#include "broker/map/topic_events.h"
#include "broker/map/type_store.h"
#include "wire/control.h"

namespace orc {

class topic_map {
 public:
  using time = table::time;
  using duration = table::duration;
  using routing = leases::routing;
  using event = topic_events::event;

  // Another participant holds the topic. The caller finds out whether it still lives.
  struct held {
    wire::id participant;
    wire::hello holder;
    std::string refusal;  // the answer if the holder lives
  };
  using registered = std::variant<wire::topic_state, held, wire::error>;
  using requested = detail::expected<wire::topic_state, wire::error>;
  using done = map_table::done;

  static constexpr std::size_t entries_at_once = 512;  // that a call removes when a participant leaves

  explicit topic_map(duration lease, topic_map_limits limits = {}) : table_(lease, limits), leases_(lease) {}
  topic_map(const topic_map&) = delete;
  topic_map& operator=(const topic_map&) = delete;
  ~topic_map() = default;

  // A participant introduces itself. The same participant (id, secret, process, and on ipc user) from a new connection
  // moves there with all it has. Removes another participant that used this connection before.
  [[nodiscard]] done hello(routing from, const peer& by, const wire::hello& who, time now);
  // The connection is gone. Its participant stays until its lease ends, or until it moves to another connection.
  void closed(routing from) noexcept { leases_.closed(from); }

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
    return table_.types.read(what);
  }
  [[nodiscard]] bool has_schema(std::uint64_t hash) const noexcept { return table_.types.has_schema(hash); }

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
  [[nodiscard]] bool any_late(time now) const noexcept { return leases_.any_late(now); }
  // The broker itself was delayed and could not see renewals: every participant gets a full lease from now on.
  void renew_all(time now) noexcept { leases_.renew_all(now); }

  // Participants that left may leave entries behind. Their topics are free, but they count. Removes at most `most`.
  void clean_up(time now, std::size_t most) noexcept;
  [[nodiscard]] bool clean() const noexcept { return departures_.empty() && peers_.clean(); }

  [[nodiscard]] std::optional<event> next_event(time now, std::size_t& budget) {
    return table_.events.next(now, budget);
  }
  [[nodiscard]] std::optional<time> next_event_time() const noexcept { return table_.events.next_time(); }

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
  [[nodiscard]] change_log::revision newest_change() const noexcept { return table_.changes.newest(); }

  // What peer brokers report, and see.
  [[nodiscard]] peer_reports& peers() noexcept { return peers_; }
  [[nodiscard]] const peer_reports& peers() const noexcept { return peers_; }
  // Forgets a peer with its topics.
  void peer_gone(peer_reports::peer_key which, time now) noexcept;
  [[nodiscard]] const exported_topics& exports() const noexcept { return table_.exports(); }

  struct participant_view {
    wire::id id;
    const wire::hello& hello;
  };
  // At most `most` participants with ids greater than `after`, in order.
  [[nodiscard]] std::vector<participant_view> participants_after(const wire::id& after, std::size_t most) const;
  [[nodiscard]] bool knows(const wire::id& who) const { return leases_.of(who) != nullptr; }
  [[nodiscard]] std::optional<routing> route_of(const wire::id& who) const;
  [[nodiscard]] std::optional<wire::id> participant_at(routing from) const;
  // The id that others see instead of its own; none: unknown.
  [[nodiscard]] wire::id shown_id_of(const wire::id& who) const;

  [[nodiscard]] std::size_t topic_count() const noexcept { return table_.topics().size(); }
  [[nodiscard]] std::size_t participant_count() const noexcept { return leases_.all().size(); }
  [[nodiscard]] std::size_t subscription_count() const noexcept { return table_.subscription_count(); }
  [[nodiscard]] std::size_t description_bytes() const noexcept { return table_.description_bytes(); }
  [[nodiscard]] const type_store& types() const noexcept { return table_.types; }

 private:
  void retire(table::participant& session) noexcept;
  [[nodiscard]] std::optional<registered> owned_by_another(const std::string& topic, const table::participant& self);

  map_table table_;
  leases leases_;
  departures departures_{table_};
  peer_reports peers_{table_, departures_};
};

}  // namespace orc
