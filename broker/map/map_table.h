// The rows of the topic map: topics with their publications and subscriptions, what each client has of them, and what
// follows when a row changes (the change logs, the events' queue, who pays). It decides nothing: topic_map and
// peer_reports do.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "base/expected.h"
#include "broker/map/change_log.h"
#include "broker/map/client_table.h"
#include "broker/map/exported_topics.h"
#include "broker/map/left_out.h"
#include "broker/map/table_records.h"
#include "broker/map/topic_events.h"
#include "broker/map/type_store.h"
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

class map_table {
 public:
  using time = table::time;
  using place = table::topics::iterator;
  using done = detail::expected<wire::ack, wire::error>;
  static constexpr std::size_t bytes_per_endpoint = 32;  // besides its address

  map_table(table::duration patience, topic_map_limits limits);
  map_table(const map_table&) = delete;
  map_table& operator=(const map_table&) = delete;
  ~map_table() = default;

  const topic_map_limits limits;
  client_table clients;
  type_store types;
  change_log changes;
  topic_events events;
  left_out omissions;
  // Another participant takes the place of this publication. Remembers that a peer reported it, and will not again.
  void omits(const table::publication& slot, const table::participant& by) {
    if (slot.holder != nullptr && slot.holder != &by && slot.from && table::is_live(slot))
      omissions.add(*slot.holder, slot.id);
  }

  [[nodiscard]] const table::topics& topics() const noexcept { return topics_; }
  [[nodiscard]] place find(const std::string& name) { return topics_.find(name); }
  [[nodiscard]] bool has(place at) noexcept { return at != topics_.end(); }
  [[nodiscard]] exported_topics& exports() noexcept { return exports_; }
  [[nodiscard]] const exported_topics& exports() const noexcept { return exports_; }
  [[nodiscard]] std::size_t subscription_count() const noexcept { return subscription_count_; }
  [[nodiscard]] std::size_t description_bytes() const noexcept { return types.bytes() + text_bytes_; }
  // Of a participant or a peer.
  [[nodiscard]] std::uint64_t next_number() noexcept { return ++last_number_; }

  // ---- room ----
  [[nodiscard]] done room_for_topic(const table::participant& self) const;
  [[nodiscard]] done room_for_topic_of_peer(const table::participant& peer) const;
  [[nodiscard]] done room_for_subscription(const table::participant& self) const;
  // Checks a type, and the room for it and for endpoints of `text` bytes that take the place of `replaced` bytes.
  [[nodiscard]] done check_type(const wire::type_reference* type, const table::participant& self, std::size_t text = 0,
                                std::size_t replaced = 0) const;
  // Takes a part of a schema.
  [[nodiscard]] done add_schema(table::participant& from, const wire::schema_part& part, time now);

  // ---- topics ----
  // Makes the row of a topic that has none, for `owner`.
  [[nodiscard]] place entry(const std::string& name, table::participant& owner);
  // A participant does not publish or request the topic any more. Perhaps none does, or its owner does not.
  void unlinked(place at) noexcept;
  // The topic moved: notifies those who requested it.
  void notify(place at, time now) noexcept { events.notify(*at, now); }

  // ---- publications ----
  // The place of a publication with its type, made if it is new: all that can fail. Changes nothing on failure, except
  // that it removes a topic that nothing uses.
  struct reserved {
    table::publication* slot;
    const type_store::entry* type;
  };
  [[nodiscard]] detail::expected<reserved, wire::error> reserve(place at, table::participant& self,
                                                                const wire::id& which,
                                                                const wire::type_reference* type);
  // Gives the place a new publication. Releases the earlier one.
  void replace(table::publication& slot, table::publication&& fresh) noexcept;
  // Removes the publications of `self` besides `slot`, and those of participants that have left.
  void drop_replaced(place at, const table::participant& self, const table::publication& slot) noexcept;
  void drop_publication(place at, const wire::id& which) noexcept;

  // ---- subscriptions ----
  // Adds a subscription, or changes its type and age.
  [[nodiscard]] detail::expected<const type_store::entry*, wire::error> subscribe(place at, table::participant& self,
                                                                                  const wire::request_topic& what,
                                                                                  const wire::type_reference* type);
  void drop_subscription(table::participant& of, std::map<wire::id, table::requested_topic>::iterator which) noexcept;

  // The type that a message declares. nullptr: none, or an empty description.
  [[nodiscard]] static const wire::type_reference* declared(const std::optional<wire::type_reference>& type);
  // Names the topic in an error.
  [[nodiscard]] static wire::error in_topic(const std::string& topic, wire::error why);

 private:
  [[nodiscard]] done room_for_bytes(std::size_t total, std::size_t of_client, const table::participant& self) const;
  // A table as one client finds it: of all that is used, and the limit. Discovered brokers find their common half.
  struct table_use {
    std::size_t all;
    std::size_t limit;
  };
  [[nodiscard]] table_use open_to(const table::participant& self, std::size_t all, std::size_t limit,
                                  std::size_t client::*of) const;
  void release(const table::publication& gone) noexcept;
  void release(const table::subscription& gone) noexcept;

  table::topics topics_;
  exported_topics exports_;
  std::uint64_t last_number_;
  std::size_t subscription_count_ = 0;
  std::size_t text_bytes_ = 0;
};

}  // namespace orc
