#include "broker/map/topic_map.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "broker/map/table_room.h"
#include "broker/map/topic_states.h"

namespace orc {
namespace {

wire::error refused(wire::error_code code, std::string text) { return {code, std::move(text)}; }

wire::error no_participant() {
  return {wire::error_code::unknown_participant, "this connection has not said Hello, or its lease ran out"};
}

std::size_t text_bytes_of(const wire::register_topic& what) {
  std::size_t bytes = 0;
  for (const auto& each : what.endpoints) bytes += each.address.size() + map_table::bytes_per_endpoint;
  return bytes;
}

// Until when a limit of so many at once, and then as many per second, is used up after one more; nothing: it is
// already.
std::optional<table::time> one_more(table::time paid_until, int at_once, table::time now) noexcept {
  const auto each = table::time::duration(std::chrono::seconds(1)) / at_once;
  const auto paid = std::max(paid_until, now - each * (at_once - 1));
  if (paid > now) return std::nullopt;
  return paid + each;
}

// Whether a shared topic has room for one more publication, or for this one in place of `own`. Those of peers take the
// room that is left.
topic_map::done room_for_publication(const table::row& at, const table::participant& self,
                                     const wire::register_topic& what) {
  const auto& of = at.second;
  const auto same = of.publishers.find(what.publication);
  if (same != of.publishers.end() && same->second.holder != &self && !same->second.from && table::is_live(same->second))
    return refused(wire::error_code::bad_request, "the publication id " + what.publication.hex() + " is another's");
  if (!what.shared) return wire::ack{};
  const auto& who = self.hello;
  std::size_t count = 1;
  std::size_t bytes = wire::largest_size(wire::publication_info{what.publication,
                                                                {},
                                                                who.name,
                                                                who.host,
                                                                who.pid,
                                                                what.endpoints,
                                                                what.type,
                                                                {},
                                                                0,
                                                                what.keep_last,
                                                                {},
                                                                false,
                                                                0,
                                                                self.by->name});
  std::size_t others = 0;
  std::size_t bytes_of_others = 0;
  for (const auto& [id, each] : of.publishers) {
    if (each.holder == &self || each.from || !table::is_live(each) || id == what.publication) continue;
    const bool is_other = each.holder->by != self.by;
    const std::size_t size = wire::largest_size(table::info_of(each));
    ++(is_other ? others : count);
    (is_other ? bytes_of_others : bytes) += size;
  }
  const std::size_t places = client_table::most(wire::max_publishers, others);
  const std::size_t room = client_table::most(wire::room_for_publications, bytes_of_others);
  if (count <= places && bytes <= room) return wire::ack{};
  return refused(wire::error_code::limit,
                 "the shared topic \"" + at.first + "\" has " + std::to_string(count - 1 + others) +
                     " publishers: it has room for " + std::to_string(wire::max_publishers) + ", in " +
                     std::to_string(wire::room_for_publications) + " bytes, and now for " + std::to_string(places) +
                     " of " + self.by->name + ", in " + std::to_string(room) + " bytes");
}

// A live publication of another participant because of which `self` cannot publish the topic this way. Null: none.
const table::publication* obstacle(const table::topic& of, const table::participant& self,
                                   const wire::register_topic& what) {
  const auto* const first = table::leader(of);
  for (const auto& [id, each] : of.publishers) {
    if (each.holder == &self || !table::is_live(each) || (what.shared && each.shared)) continue;
    if (each.from && id == what.publication) continue;  // the participant was with that broker before
    // What stays on this host does not compete with a peer's.
    if (each.from && !peer_reports::reaches(what.endpoints, *each.holder)) continue;
    // What stayed on this host until now did not compete either.
    const bool is_new_rival = each.from && first->holder == &self && !(each.shared && first->shared) &&
                              !peer_reports::reaches(first->endpoints, *each.holder);
    if (table::is_shown(each, first) || is_new_rival) return &each;
  }
  return nullptr;
}

// Only the program that serves NAME publishes NAME/.reply/ID and, while NAME has a publisher, NAME/.calls: another one
// would answer the calls, or keep the server from it. Empty: any program may publish the topic.
struct ownership {
  std::string service;
  bool served_only = false;
};

ownership ownership_of(const std::string& topic) {
  constexpr std::string_view replies = "/.reply/";
  constexpr std::string_view records = "/.calls";
  if (const auto at = topic.rfind(replies); at != std::string::npos) return {topic.substr(0, at), true};
  if (topic.ends_with(records)) return {topic.substr(0, topic.size() - records.size()), false};
  return {};
}

}  // namespace

// Nothing: `self` may publish the topic, as far as the services are concerned.
std::optional<topic_map::registered> topic_map::owned_by_another(const std::string& topic,
                                                                 const table::participant& self) {
  const auto [service, served_only] = ownership_of(topic);
  if (service.empty()) return std::nullopt;
  const auto at = table_.find(service);
  const table::publication* const first = table_.has(at) ? table::leader(at->second) : nullptr;
  if (first == nullptr ? !served_only : table::own(at->second, self) != nullptr) return std::nullopt;
  std::string why = "topic \"" + topic + "\" is for the program that serves \"" + service + "\"";
  if (first == nullptr) return refused(wire::error_code::name_taken, why + ", and none does");
  why += ": " + table::refusal(*at, *first, self.hello.host);
  if (first->from) return refused(wire::error_code::name_taken, std::move(why));
  return held{first->holder->hello.participant, first->holder->hello, std::move(why)};
}

topic_map::registered topic_map::register_topic(routing from, const wire::register_topic& what, time now) {
  table::participant* const self = leases_.at(from);
  if (self == nullptr) return no_participant();
  const auto known = self->publications.find(what.publication);
  const bool fresh_id = known == self->publications.end();
  if (!fresh_id && known->second->first != what.topic) {
    return refused(wire::error_code::bad_request, "the publication id " + what.publication.hex() +
                                                      " is that of topic \"" + known->second->first + "\"");
  }
  if (auto foreign = owned_by_another(what.topic, *self)) return *std::move(foreign);
  auto at = table_.find(what.topic);
  const table::publication* before = nullptr;
  if (!table_.has(at)) {
    if (auto space = table_.room_for_topic(*self); !space) return space.error();
  } else {
    if (const auto* const other = obstacle(at->second, *self, what)) {
      const auto& holder = other->holder->hello;
      if (other->from) {
        auto why = refused(wire::error_code::name_taken, table::refusal(*at, *other, self->hello.host));
        // What it registered while this host had no address would hide the holder from this host for good.
        if (const auto* const mine = table::own(at->second, *self)) {
          table_.drop_publication(at, wire::id(mine->id));
          table_.notify(at, now);
        }
        return why;
      }
      return held{holder.participant, holder, table::refusal(*at, *other, self->hello.host)};
    }
    before = table::own(at->second, *self);
    if (before == nullptr && self->publications.size() >= table_.limits.topics_each)
      return room("topics", 0, 1, *self->by, 0, self->publications.size(), table_.limits.topics_each).error();
    if (auto space = room_for_publication(*at, *self, what); !space) return space.error();
  }
  const auto* const type = map_table::declared(what.type);
  const std::size_t text_bytes = text_bytes_of(what);
  if (auto checked = table_.check_type(type, *self, text_bytes, before == nullptr ? 0 : before->text_bytes); !checked)
    return map_table::in_topic(what.topic, checked.error());

  // Does all allocations first.
  table::publication fresh{
      what.publication, self, what.endpoints, nullptr, what.keep_last, what.shared, text_bytes, now, {}, {}, 0};
  if (!table_.has(at)) at = table_.entry(what.topic, *self);
  try {
    table_.exports().begin(*at);
  } catch (...) {
    table_.unlinked(at);
    throw;
  }
  auto place = table_.reserve(at, *self, what.publication, type);
  if (!place) return map_table::in_topic(what.topic, std::move(place).error());
  fresh.type = place->type;
  table::publication& slot = *place->slot;
  const bool same = before == &slot;
  // A type that only this publication uses keeps its entry, because it was claimed before it is released.
  const bool moved =
      !same || before->shared != what.shared || before->endpoints != what.endpoints || before->type != fresh.type;
  const bool differs = moved || before->keep_last != fresh.keep_last;
  table_.omits(slot, *self);
  if (same) {
    fresh.counters = std::move(slot.counters);
    fresh.since = slot.since;
  }
  if (slot.holder != nullptr && slot.holder != self) slot.holder->publications.erase(slot.id);  // it has left
  table_.replace(slot, std::move(fresh));
  // Takes the place of another one of ours, and of those that have left.
  table_.drop_replaced(at, *self, slot);
  if (differs) {
    table_.changes.changed(at->second.change);
    table_.exports().changed(at->second);
  }
  table_.unlinked(at);  // the replaced one may have been the owner's
  if (moved) table_.notify(at, now);
  auto state = table::state_of(*at);
  state.lacks_schema = slot.type != nullptr && !slot.type->complete();
  return state;
}

topic_map::done topic_map::unregister_topic(routing from, const wire::unregister_topic& what, time now) {
  table::participant* const self = leases_.at(from);
  if (self == nullptr) return no_participant();
  const auto mine = self->publications.find(what.publication);
  if (mine == self->publications.end() || mine->second->first != what.topic) return wire::ack{};  // done before
  const auto at = mine->second;
  table_.drop_publication(at, what.publication);
  table_.notify(at, now);
  table_.unlinked(at);
  return wire::ack{};
}

topic_map::requested topic_map::request_topic(routing from, const wire::request_topic& what) {
  table::participant* const self = leases_.at(from);
  if (self == nullptr) return no_participant();
  const auto* const type = map_table::declared(what.type);
  const auto known = self->subscriptions.find(what.subscription);
  const bool fresh_id = known == self->subscriptions.end();
  if (!fresh_id && known->second.at->first != what.topic) {
    return refused(wire::error_code::bad_request,
                   "this subscription id is that of topic \"" + known->second.at->first + "\"");
  }
  if (fresh_id) {
    if (auto space = table_.room_for_subscription(*self); !space) return space.error();
  }
  if (auto checked = table_.check_type(type, *self); !checked) return map_table::in_topic(what.topic, checked.error());
  auto at = fresh_id ? table_.find(what.topic) : known->second.at;
  if (table_.has(at) && table::is_shared(at->second) && !what.knows_shared) {
    return refused(wire::error_code::version, "topic \"" + what.topic +
                                                  "\" is shared by several publishers, which this participant is too "
                                                  "old to receive: update its library");
  }
  if (!table_.has(at)) {
    if (auto space = table_.room_for_topic(*self); !space) return space.error();
    at = table_.entry(what.topic, *self);
  }
  const auto subscribed = table_.subscribe(at, *self, what, type);
  if (!subscribed) return map_table::in_topic(what.topic, subscribed.error());
  auto state = table::state_of(*at);
  state.lacks_schema = *subscribed != nullptr && !(*subscribed)->complete();
  return state;
}

topic_map::done topic_map::release_topic(routing from, const wire::release_topic& what) {
  table::participant* const self = leases_.at(from);
  if (self == nullptr) return no_participant();
  const auto mine = self->subscriptions.find(what.subscription);
  if (mine == self->subscriptions.end() || mine->second.at->first != what.topic) return wire::ack{};  // done before
  table_.drop_subscription(*self, mine);
  return wire::ack{};
}

topic_map::done topic_map::heartbeat(routing from, const wire::heartbeat& counters, time now) {
  table::participant* const self = leases_.at(from);
  if (self == nullptr) return no_participant();
  leases_.renew(*self, now);
  // Counters of something unregistered a moment ago are no error.
  for (const auto& one : counters.publications) {
    const auto mine = self->publications.find(one.publication);
    if (mine == self->publications.end()) continue;
    auto& kept = mine->second->second.publishers.at(one.publication).counters;
    kept = std::make_unique<table::counted<wire::publication_counters>>(
        table::counted<wire::publication_counters>{one, now});
  }
  for (const auto& one : counters.subscriptions) {
    const auto mine = self->subscriptions.find(one.subscription);
    if (mine == self->subscriptions.end()) continue;
    const auto& [at, shown] = mine->second;
    auto fresh = std::make_unique<table::counted<wire::subscription_counters>>(
        table::counted<wire::subscription_counters>{one, now});
    fresh->counters.subscription = shown;
    at->second.subscriptions.at(shown).counters = std::move(fresh);
  }
  return wire::ack{};
}

topic_map::done topic_map::add_schema(routing from, const wire::schema_part& part, time now) {
  table::participant* const self = leases_.at(from);
  if (self == nullptr) return no_participant();
  return table_.add_schema(*self, part, now);
}

topic_map::reported topic_map::report_mismatch(routing from, wire::type_mismatch&& what, time now) {
  table::participant* const self = leases_.at(from);
  if (self == nullptr) return no_participant();
  const auto reports_until = one_more(self->reported_until, reports_at_once, now);
  if (!reports_until) return std::nullopt;
  const auto which = self->subscriptions.find(what.subscription);
  if (which == self->subscriptions.end() || which->second.at->first != what.topic) return std::nullopt;
  auto& of = which->second.at->second;
  const table::subscription& by = of.subscriptions.at(which->second.shown);
  const auto found = what.publication ? of.publishers.find(what.publication) : of.publishers.begin();
  if (found == of.publishers.end() || !table::is_live(found->second)) return std::nullopt;
  const table::publication& about = found->second;
  if (about.type == nullptr || by.type == nullptr || about.type == by.type || !about.holder->route) return std::nullopt;
  const auto told_until = one_more(about.holder->told_until, told_at_once, now);
  if (!told_until) return std::nullopt;
  self->reported_until = *reports_until;
  about.holder->told_until = *told_until;
  what.subscription = which->second.shown;
  what.participant_name = self->hello.name;
  what.pid = self->hello.pid;
  return mismatch_news{*about.holder->route, std::move(what)};
}

}  // namespace orc
