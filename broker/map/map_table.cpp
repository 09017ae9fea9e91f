#include "broker/map/map_table.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "broker/map/table_room.h"

namespace orc {

// Numbers of participants start at random, so that an id of an earlier broker is not mistaken for one of this broker.
map_table::map_table(table::duration patience, topic_map_limits given)
    : limits(given),
      types(patience),
      changes(given.gone),
      exports_(topics_, given.gone),
      last_number_(wire::id::random().hi >> 1) {}

// ---- room ----

map_table::done map_table::room_for_topic(const table::participant& self) const {
  return room("topics", topics_.size(), limits.topics, *self.by, self.by->topics,
              std::max(self.owned_topics, self.publications.size()), limits.topics_each);
}

map_table::done map_table::room_for_topic_of_peer(const table::participant& peer) const {
  const auto [all, limit] = open_to(peer, topics_.size(), limits.topics, &client::topics);
  return room("topics", all, limit, *peer.by, peer.by->topics);
}

map_table::done map_table::room_for_subscription(const table::participant& self) const {
  return room("subscriptions", subscription_count_, limits.subscriptions, *self.by, self.by->subscriptions,
              self.subscriptions.size(), limits.subscriptions_each);
}

map_table::table_use map_table::open_to(const table::participant& self, std::size_t all, std::size_t limit,
                                        std::size_t client::*of) const {
  if (!self.by->discovered) return {all, limit};
  const auto used = clients.used_by_discovered(of);
  return {used, client_table::share(limit, all > used ? all - used : 0)};
}

const wire::type_reference* map_table::declared(const std::optional<wire::type_reference>& type) {
  const bool empty = !type || *type == wire::type_reference{};
  return empty ? nullptr : &*type;
}

map_table::done map_table::check_type(const wire::type_reference* type, const table::participant& self,
                                      std::size_t text, std::size_t replaced) const {
  type_store::cost more;
  if (type != nullptr) {
    if (auto checked = type_store::check(*type); !checked) return checked;
    more = types.cost_of(*type, self.types);
  }
  const auto without_replaced = [&](std::size_t bytes) { return bytes > replaced ? bytes - replaced : 0; };
  return room_for_bytes(without_replaced(more.total + text), without_replaced(more.of_client + text), self);
}

map_table::done map_table::room_for_bytes(std::size_t total, std::size_t of_client,
                                          const table::participant& self) const {
  if (total == 0 && of_client == 0) return wire::ack{};
  const auto [used, limit] = open_to(self, description_bytes(), limits.schema_bytes, &client::description_bytes);
  const std::size_t all = used + (self.by->discovered ? of_client : total);
  const std::size_t own = self.by->description_bytes + of_client;
  // room() covers one more; this covers all of it.
  return room("bytes of types, schemas and endpoints", all == 0 ? 0 : all - 1, limit, *self.by, own == 0 ? 0 : own - 1);
}

map_table::done map_table::add_schema(table::participant& from, const wire::schema_part& part, time now) {
  if (auto answer = types.look_at(part, from.types)) return std::move(*answer);
  const std::size_t more = part.bytes.size();
  if (auto space = room_for_bytes(more, more, from); !space) {
    types.drop_upload(from.types);
    return space;
  }
  return types.add(part, from.types, now);
}

wire::error map_table::in_topic(const std::string& topic, wire::error why) {
  if (why.code == wire::error_code::bad_request) why.text = "topic \"" + topic + "\": " + why.text;
  return why;
}

// ---- topics ----

map_table::place map_table::entry(const std::string& name, table::participant& owner) {
  const auto at = topics_.try_emplace(name).first;
  try {
    topic_events::prepare(*at);
    at->second.change = changes.add({.topic = &at->first});
  } catch (...) {
    topics_.erase(at);
    throw;
  }
  at->second.owner = &owner;
  ++owner.owned_topics;
  ++owner.by->topics;
  return at;
}

void map_table::unlinked(place at) noexcept {
  auto& of = at->second;
  const bool unused = of.publishers.empty() && of.subscriptions.empty();
  if (!unused && table::linked(of, *of.owner)) return;
  --of.owner->owned_topics;
  --of.owner->by->topics;
  if (unused) {
    events.forget(*at);
    exports_.end(of);
    const auto change = of.change;
    changes.gone(change, std::move(topics_.extract(at).key()));
    return;
  }
  of.owner = of.publishers.empty() ? of.subscriptions.begin()->second.holder : of.publishers.begin()->second.holder;
  ++of.owner->owned_topics;
  ++of.owner->by->topics;
}

// ---- publications ----

detail::expected<map_table::reserved, wire::error> map_table::reserve(place at, table::participant& self,
                                                                      const wire::id& which,
                                                                      const wire::type_reference* type) {
  auto& all = at->second.publishers;
  const bool fresh_id = !self.publications.contains(which);
  const auto undo = [&]() noexcept {
    if (fresh_id) self.publications.erase(which);
    if (const auto made = all.find(which); made != all.end() && made->second.holder == nullptr) all.erase(made);
    exports_.end_unless_published(at->second);
    unlinked(at);
  };
  const type_store::entry* claimed = nullptr;
  try {
    all.try_emplace(which);
    self.publications.try_emplace(which, at);
    if (type != nullptr) {
      auto entry = types.claim(*type, self.types);
      if (!entry) {
        undo();
        return std::move(entry).error();
      }
      claimed = *entry;
    }
  } catch (...) {
    undo();
    throw;
  }
  return reserved{&all.at(which), claimed};
}

void map_table::replace(table::publication& slot, table::publication&& fresh) noexcept {
  if (slot.holder != nullptr) release(slot);
  slot = std::move(fresh);
  text_bytes_ += slot.text_bytes;
  slot.holder->by->description_bytes += slot.text_bytes;
}

void map_table::drop_replaced(place at, const table::participant& self, const table::publication& slot) noexcept {
  auto& all = at->second.publishers;
  for (auto each = all.begin(); each != all.end();) {
    const bool replaced = &each->second != &slot && (each->second.holder == &self || !table::is_live(each->second));
    if (replaced) {
      omissions.missed(each->first);
      release(each->second);
      each->second.holder->publications.erase(each->first);
    }
    each = replaced ? all.erase(each) : std::next(each);
  }
}

void map_table::release(const table::publication& gone) noexcept {
  table::participant& holder = *gone.holder;
  if (gone.type != nullptr) types.release(*gone.type, holder.types);
  text_bytes_ -= gone.text_bytes;
  holder.by->description_bytes -= gone.text_bytes;
}

void map_table::release(const table::subscription& gone) noexcept {
  if (gone.type != nullptr) types.release(*gone.type, gone.holder->types);
}

void map_table::drop_publication(place at, const wire::id& which) noexcept {
  auto& all = at->second.publishers;
  const auto gone = all.find(which);
  release(gone->second);
  gone->second.holder->publications.erase(gone->first);
  const bool own = gone->second.from == nullptr;
  omissions.missed(which);
  all.erase(gone);
  if (own) {
    exports_.changed(at->second);
    exports_.end_unless_published(at->second);
  }
  changes.changed(at->second.change);
}

// ---- subscriptions ----

detail::expected<const type_store::entry*, wire::error> map_table::subscribe(place at, table::participant& self,
                                                                             const wire::request_topic& what,
                                                                             const wire::type_reference* type) {
  const auto known = self.subscriptions.find(what.subscription);
  const bool fresh_id = known == self.subscriptions.end();
  const wire::id shown = fresh_id ? wire::id{self.number, self.last_subscription + 1} : known->second.shown;
  const type_store::entry* fresh_type = nullptr;
  const auto undo = [&]() noexcept {
    if (!fresh_id) return;
    self.subscriptions.erase(what.subscription);
    at->second.subscriptions.erase(shown);
    unlinked(at);
  };
  try {
    if (fresh_id) {
      at->second.subscriptions.try_emplace(shown, table::subscription{&self, what.max_age_ms, nullptr, {}});
      self.subscriptions.try_emplace(what.subscription, table::requested_topic{at, shown});
    }
    if (type != nullptr) {
      auto claimed = types.claim(*type, self.types);
      if (!claimed) {
        undo();
        return std::move(claimed).error();
      }
      fresh_type = *claimed;
    }
  } catch (...) {
    undo();
    throw;
  }
  auto& mine = at->second.subscriptions.at(shown);
  const bool differs = fresh_id || mine.type != fresh_type;
  release(mine);
  mine.type = fresh_type;
  mine.max_age_ms = what.max_age_ms;
  if (fresh_id) {
    ++self.last_subscription;
    ++self.by->subscriptions;
    ++subscription_count_;
  }
  if (differs) changes.changed(at->second.change);
  return fresh_type;
}

void map_table::drop_subscription(table::participant& of,
                                  std::map<wire::id, table::requested_topic>::iterator which) noexcept {
  const auto at = which->second.at;
  const auto gone = at->second.subscriptions.find(which->second.shown);
  release(gone->second);
  at->second.subscriptions.erase(gone);
  of.subscriptions.erase(which);
  --of.by->subscriptions;
  --subscription_count_;
  changes.changed(at->second.change);
  unlinked(at);
}

}  // namespace orc
