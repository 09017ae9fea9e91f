#include "topic_map.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "endpoint_rules.h"
#include "table_room.h"

namespace orc {
namespace {

wire::error refused(wire::error_code code, std::string text) { return {code, std::move(text)}; }

// The identity of a host is long, and says nothing to those who are on it.
std::string describe_process(const wire::hello& who, const std::string& asking_host) {
  return (who.name.empty() ? "a participant" : who.name) + " (pid " + std::to_string(who.pid) +
         (who.host == asking_host ? "" : " on host " + who.host) + ")";
}

std::size_t text_bytes_of(const wire::register_topic& what) {
  std::size_t bytes = 0;
  for (const auto& each : what.endpoints) bytes += each.address.size() + topic_map::bytes_per_endpoint;
  return bytes;
}

}  // namespace

// Numbers of participants start at random, so that an id of an earlier broker is not mistaken for one of this broker.
topic_map::topic_map(duration lease, topic_map_limits limits)
    : lease_(lease),
      limits_(limits),
      types_(lease),
      changes_(limits.gone),
      exports_(limits.gone),
      last_number_(wire::id::random().hi >> 1) {}

topic_map::~topic_map() {
  while (leaving_) leaving_ = std::move(leaving_->next);  // a loop, because recursion might be too deep
}

topic_map::registered topic_map::register_topic(routing from, const wire::register_topic& what, time now) {
  participant* const self = find(from);
  if (self == nullptr) return no_participant();
  const auto known = self->publications.find(what.publication);
  const bool fresh_id = known == self->publications.end();
  if (!fresh_id && known->second->first != what.topic) {
    return refused(wire::error_code::bad_request, "the publication id " + what.publication.hex() +
                                                      " is that of topic \"" + known->second->first + "\"");
  }
  auto at = topics_.find(what.topic);
  const publication* before = nullptr;
  if (at == topics_.end()) {
    if (auto space = room_for_topic(*self); !space) return space.error();
  } else {
    if (const auto* const other = obstacle(at->second, *self, what)) {
      const auto& holder = other->holder->hello;
      if (other->from) return refused(wire::error_code::name_taken, refusal(at, *other, self->hello.host));
      return held{holder.participant, holder, refusal(at, *other, self->hello.host)};
    }
    before = own(at->second, *self);
    if (before == nullptr && self->publications.size() >= limits_.topics_each)
      return room("topics", 0, 1, *self->by, 0, self->publications.size(), limits_.topics_each).error();
    if (auto space = room_for_publication(at, *self, what); !space) return space.error();
  }
  const auto* const type = declared(what.type);
  const std::size_t text_bytes = text_bytes_of(what);
  if (auto checked = check_type(type, *self, text_bytes, before == nullptr ? 0 : before->text_bytes); !checked)
    return in_topic(what.topic, checked.error());

  // Does all allocations first.
  publication fresh{
      what.publication, self, what.endpoints, nullptr, what.keep_last, what.shared, text_bytes, now, {}, {}, 0};
  if (at == topics_.end()) at = entry(what.topic, *self);
  if (!at->second.exported) {
    try {
      at->second.exported = exports_.add({.topic = &at->first, .name = at->first});
      ++exported_;
    } catch (...) {
      unlinked(at);
      throw;
    }
  }
  auto place = reserve(at, *self, what.publication, type);
  if (!place) return in_topic(what.topic, std::move(place).error());
  fresh.type = place->type;
  auto& all = at->second.publishers;
  publication& slot = *place->slot;
  const bool same = before == &slot;
  // A type that only this publication uses keeps its entry, because it was claimed before it is released.
  const bool moved =
      !same || before->shared != what.shared || before->endpoints != what.endpoints || before->type != fresh.type;
  const bool differs = moved || before->keep_last != fresh.keep_last;
  if (same) {
    fresh.counters = std::move(slot.counters);
    fresh.since = slot.since;
  }
  if (slot.holder != nullptr && slot.holder != self) slot.holder->publications.erase(slot.id);  // it has left
  replace(slot, std::move(fresh));
  // Takes the place of another one of ours, and of those that have left.
  for (auto each = all.begin(); each != all.end();) {
    const bool replaced = &each->second != &slot && (each->second.holder == self || !is_live(each->second));
    if (replaced) {
      missed(each->first);
      release(each->second);
      each->second.holder->publications.erase(each->first);
    }
    each = replaced ? all.erase(each) : std::next(each);
  }
  if (differs) {
    changes_.changed(at->second.change);
    exports_.changed(*at->second.exported);
  }
  unlinked(at);  // the replaced one may have been the owner's
  if (moved) notify(at, now);
  auto state = state_of(at);
  state.lacks_schema = slot.type != nullptr && !slot.type->complete();
  return state;
}

detail::expected<topic_map::reserved, wire::error> topic_map::reserve(topic_table::iterator at, participant& self,
                                                                      const wire::id& which,
                                                                      const wire::type_reference* type) {
  auto& all = at->second.publishers;
  const bool fresh_id = !self.publications.contains(which);
  const auto undo = [&]() noexcept {
    if (fresh_id) self.publications.erase(which);
    if (const auto made = all.find(which); made != all.end() && made->second.holder == nullptr) all.erase(made);
    if (std::all_of(all.begin(), all.end(), [](const auto& each) { return each.second.from != nullptr; }))
      end_export(at);
    unlinked(at);
  };
  const type_store::entry* claimed = nullptr;
  try {
    all.try_emplace(which);
    self.publications.try_emplace(which, at);
    if (type != nullptr) {
      auto entry = types_.claim(*type, self.types);
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

void topic_map::replace(publication& slot, publication&& fresh) noexcept {
  if (slot.holder != nullptr) release(slot);
  slot = std::move(fresh);
  text_bytes_ += slot.text_bytes;
  slot.holder->by->description_bytes += slot.text_bytes;
}

topic_map::done topic_map::unregister_topic(routing from, const wire::unregister_topic& what, time now) {
  participant* const self = find(from);
  if (self == nullptr) return no_participant();
  const auto mine = self->publications.find(what.publication);
  if (mine == self->publications.end() || mine->second->first != what.topic) return wire::ack{};  // done before
  const auto at = mine->second;
  drop_publication(at, what.publication);
  notify(at, now);
  unlinked(at);
  return wire::ack{};
}

topic_map::requested topic_map::request_topic(routing from, const wire::request_topic& what) {
  participant* const self = find(from);
  if (self == nullptr) return no_participant();
  const auto* const type = declared(what.type);
  const auto known = self->subscriptions.find(what.subscription);
  const bool fresh_id = known == self->subscriptions.end();
  if (!fresh_id && known->second.at->first != what.topic) {
    return refused(wire::error_code::bad_request,
                   "this subscription id is that of topic \"" + known->second.at->first + "\"");
  }
  if (fresh_id) {
    if (auto space = room("subscriptions", subscription_count_, limits_.subscriptions, *self->by,
                          self->by->subscriptions, self->subscriptions.size(), limits_.subscriptions_each);
        !space) {
      return space.error();
    }
  }
  if (auto checked = check_type(type, *self); !checked) return in_topic(what.topic, checked.error());
  auto at = fresh_id ? topics_.find(what.topic) : known->second.at;
  if (at != topics_.end() && is_shared(at->second) && !what.knows_shared) {
    return refused(wire::error_code::version, "topic \"" + what.topic +
                                                  "\" is shared by several publishers, which this participant is too "
                                                  "old to receive: update its library");
  }
  if (at == topics_.end()) {
    if (auto space = room_for_topic(*self); !space) return space.error();
    at = entry(what.topic, *self);
  }
  const wire::id shown = fresh_id ? wire::id{self->number, self->last_subscription + 1} : known->second.shown;
  const type_store::entry* fresh_type = nullptr;
  const auto undo = [&]() noexcept {
    if (!fresh_id) return;
    self->subscriptions.erase(what.subscription);
    at->second.subscriptions.erase(shown);
    unlinked(at);
  };
  try {
    if (fresh_id) {
      at->second.subscriptions.try_emplace(shown, subscription{self, what.max_age_ms, nullptr, {}});
      self->subscriptions.try_emplace(what.subscription, requested_topic{at, shown});
    }
    if (type != nullptr) {
      auto claimed = types_.claim(*type, self->types);
      if (!claimed) {
        undo();
        return in_topic(what.topic, claimed.error());
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
    ++self->last_subscription;
    ++self->by->subscriptions;
    ++subscription_count_;
  }
  if (differs) changes_.changed(at->second.change);
  auto state = state_of(at);
  state.lacks_schema = fresh_type != nullptr && !fresh_type->complete();
  return state;
}

topic_map::done topic_map::release_topic(routing from, const wire::release_topic& what) {
  participant* const self = find(from);
  if (self == nullptr) return no_participant();
  const auto mine = self->subscriptions.find(what.subscription);
  if (mine == self->subscriptions.end() || mine->second.at->first != what.topic) return wire::ack{};  // done before
  drop_subscription(*self, mine);
  return wire::ack{};
}

topic_map::done topic_map::heartbeat(routing from, const wire::heartbeat& counters, time now) {
  participant* const self = find(from);
  if (self == nullptr) return no_participant();
  touch(*self, now);
  // Counters of something unregistered a moment ago are no error.
  for (const auto& one : counters.publications) {
    const auto mine = self->publications.find(one.publication);
    if (mine == self->publications.end()) continue;
    auto& kept = mine->second->second.publishers.at(one.publication).counters;
    kept = std::make_unique<counted<wire::publication_counters>>(counted<wire::publication_counters>{one, now});
  }
  for (const auto& one : counters.subscriptions) {
    const auto mine = self->subscriptions.find(one.subscription);
    if (mine == self->subscriptions.end()) continue;
    const auto& [at, shown] = mine->second;
    auto fresh = std::make_unique<counted<wire::subscription_counters>>(counted<wire::subscription_counters>{one, now});
    fresh->counters.subscription = shown;
    at->second.subscriptions.at(shown).counters = std::move(fresh);
  }
  return wire::ack{};
}

topic_map::participant* topic_map::find(routing from) const {
  const auto known = by_route_.find(from);
  return known == by_route_.end() ? nullptr : known->second;
}

topic_map::done topic_map::room_for_topic(const participant& self) const {
  return room("topics", topics_.size(), limits_.topics, *self.by, self.by->topics,
              std::max(self.owned_topics, self.publications.size()), limits_.topics_each);
}

topic_map::topic_table::iterator topic_map::entry(const std::string& name, participant& owner) {
  const auto at = topics_.try_emplace(name).first;
  // A queue of its own for a moment, which is the only way to get a node.
  event_queue made;
  try {
    made.emplace(time{}, &at->first);
    at->second.change = changes_.add({.topic = &at->first});
  } catch (...) {
    topics_.erase(at);
    throw;
  }
  at->second.idle = made.extract(made.begin());
  at->second.owner = &owner;
  ++owner.owned_topics;
  ++owner.by->topics;
  return at;
}

// A participant does not publish or request the topic any more. Perhaps none does, or its owner does not.
void topic_map::unlinked(topic_table::iterator at) noexcept {
  topic& of = at->second;
  const bool unused = of.publishers.empty() && of.subscriptions.empty();
  if (!unused && linked(of, *of.owner)) return;
  --of.owner->owned_topics;
  --of.owner->by->topics;
  if (unused) {
    if (of.idle.empty()) dequeue(at);
    end_export(at);
    const auto change = of.change;
    changes_.gone(change, std::move(topics_.extract(at).key()));
    return;
  }
  of.owner = of.publishers.empty() ? of.subscriptions.begin()->second.holder : of.publishers.begin()->second.holder;
  ++of.owner->owned_topics;
  ++of.owner->by->topics;
}

bool topic_map::linked(const topic& to, const participant& who) {
  if (own(to, who) != nullptr) return true;
  const auto first = to.subscriptions.lower_bound({who.number, 0});
  return first != to.subscriptions.end() && first->first.hi == who.number;
}

const topic_map::publication* topic_map::obstacle(const topic& of, const participant& self,
                                                  const wire::register_topic& what) {
  const auto* const first = leader(of);
  for (const auto& [id, each] : of.publishers) {
    if (each.holder == &self || !is_live(each) || (what.shared && each.shared)) continue;
    if (each.from && id == what.publication) continue;  // the participant was with that broker before
    // What stays on this host does not compete with a peer's.
    if (each.from && !reaches(what.endpoints, *each.holder)) continue;
    // What stayed on this host until now did not compete either.
    const bool is_new_rival = each.from && first->holder == &self && !(each.shared && first->shared) &&
                              !reaches(first->endpoints, *each.holder);
    if (is_shown(each, first) || is_new_rival) return &each;
  }
  return nullptr;
}

bool topic_map::reaches(const std::vector<wire::endpoint>& endpoints, const participant& peer) {
  return std::any_of(endpoints.begin(), endpoints.end(),
                     [&](const auto& each) { return is_reachable(each, peer.same_host); });
}

const topic_map::publication* topic_map::own(const topic& of, const participant& self) {
  for (const auto& [id, each] : of.publishers) {
    if (each.holder == &self) return &each;
  }
  return nullptr;
}

topic_map::done topic_map::room_for_publication(topic_table::const_iterator at, const participant& self,
                                                const wire::register_topic& what) {
  const topic& of = at->second;
  const auto same = of.publishers.find(what.publication);
  if (same != of.publishers.end() && same->second.holder != &self && !same->second.from && is_live(same->second))
    return refused(wire::error_code::bad_request, "the publication id " + what.publication.hex() + " is another's");
  if (!what.shared) return wire::ack{};
  const auto& who = self.hello;
  std::size_t count = 1;
  std::size_t bytes = wire::largest_size(wire::publication_info{
      what.publication, {}, who.name, who.host, who.pid, what.endpoints, what.type, {}, 0, what.keep_last});
  std::size_t others = 0;
  std::size_t bytes_of_others = 0;
  for (const auto& [id, each] : of.publishers) {
    if (each.holder == &self || each.from || !is_live(each) || id == what.publication) continue;
    const bool is_other = each.holder->by != self.by;
    const std::size_t size = wire::largest_size(info_of(each));
    ++(is_other ? others : count);
    (is_other ? bytes_of_others : bytes) += size;
  }
  const std::size_t places = client_table::most(wire::max_publishers, others);
  const std::size_t room = client_table::most(wire::room_for_publications, bytes_of_others);
  if (count <= places && bytes <= room) return wire::ack{};
  return refused(wire::error_code::limit,
                 "the shared topic \"" + at->first + "\" has " + std::to_string(count - 1 + others) +
                     " publishers: it has room for " + std::to_string(wire::max_publishers) + ", in " +
                     std::to_string(wire::room_for_publications) + " bytes, and now for " + std::to_string(places) +
                     " of " + self.by->name + ", in " + std::to_string(room) + " bytes");
}

void topic_map::release(const publication& gone) noexcept {
  participant& holder = *gone.holder;
  if (gone.type != nullptr) types_.release(*gone.type, holder.types);
  text_bytes_ -= gone.text_bytes;
  holder.by->description_bytes -= gone.text_bytes;
}

void topic_map::release(const subscription& gone) noexcept {
  if (gone.type != nullptr) types_.release(*gone.type, gone.holder->types);
}

void topic_map::drop_publication(topic_table::iterator at, const wire::id& which) noexcept {
  auto& all = at->second.publishers;
  const auto gone = all.find(which);
  release(gone->second);
  gone->second.holder->publications.erase(gone->first);
  const bool own = gone->second.from == nullptr;
  missed(which);
  all.erase(gone);
  if (own && at->second.exported) exports_.changed(*at->second.exported);
  if (own && std::all_of(all.begin(), all.end(), [](const auto& each) { return each.second.from != nullptr; }))
    end_export(at);
  changes_.changed(at->second.change);
}

void topic_map::drop_subscription(participant& of, requested_table::iterator which) noexcept {
  const auto at = which->second.at;
  const auto gone = at->second.subscriptions.find(which->second.shown);
  release(gone->second);
  at->second.subscriptions.erase(gone);
  of.subscriptions.erase(which);
  --of.by->subscriptions;
  --subscription_count_;
  changes_.changed(at->second.change);
  unlinked(at);
}

std::string topic_map::refusal(topic_table::const_iterator at, const publication& by, const std::string& asking_host) {
  std::string who = describe_process(by.holder->hello, asking_host);
  if (by.from)
    who = (by.from->name.empty() ? "a participant" : by.from->name) + " (pid " + std::to_string(by.from->pid) +
          ") on host " + by.holder->hello.host + (by.holder->stale ? ", whose broker does not answer" : "");
  if (!by.shared) return "topic \"" + at->first + "\" is published by " + who;
  return "topic \"" + at->first + "\" is shared: register it with `shared`; " + who + " publishes it";
}

}  // namespace orc
