#include "topic_map.h"

#include <algorithm>
#include <utility>

#include "wire/type_hash.h"

namespace orc {
namespace {

wire::error refused(wire::error_code code, std::string text) { return {code, std::move(text)}; }

wire::error unknown_participant() {
  return refused(wire::error_code::unknown_participant, "this connection has not said Hello, or its lease ran out");
}

// The use of a table: in total, by one client, and by one participant.
topic_map::done room(const char* what, std::size_t all, std::size_t limit, const client& by, std::size_t of_client,
                     std::size_t of_participant = 0, std::size_t limit_each = 1) {
  const auto refuse = [&](const std::string& holder, std::size_t most) {
    return refused(wire::error_code::limit,
                   holder + " no more than " + std::to_string(most) + " " + what + ": see orc-broker --help");
  };
  if (of_participant >= limit_each) return refuse("a participant may have", limit_each);
  if (all >= limit) return refuse("the broker keeps", limit);
  const std::size_t share = client_table::share(limit, all > of_client ? all - of_client : 0);
  if (of_client >= share) return refuse(by.name + " may have, over all its connections,", share);
  return wire::ack{};
}

std::string describe_process(const wire::hello& who) {
  return (who.name.empty() ? "a participant" : who.name) + " (pid " + std::to_string(who.pid) + " on host " + who.host +
         ")";
}

bool same_process(const wire::hello& a, const wire::hello& b) {
  return a.host == b.host && a.pid == b.pid && a.start_time == b.start_time;
}

// Takes the same time wherever they differ.
bool same_secret(const wire::id& a, const wire::id& b) { return ((a.hi ^ b.hi) | (a.lo ^ b.lo)) == 0; }

constexpr std::size_t entries_at_once = 512;    // of participants that leave
constexpr std::size_t bytes_per_endpoint = 32;  // besides its address

std::size_t text_bytes_of(const wire::register_topic& what) {
  std::size_t bytes = what.type ? what.type->name.size() + what.type->encoding.size() : 0;
  for (const auto& each : what.endpoints) bytes += each.address.size() + bytes_per_endpoint;
  return bytes;
}

std::string hash_text(std::uint64_t hash) { return wire::id{hash, 0}.hex().substr(0, 16); }

}  // namespace

// Numbers of participants start at random, so that an id of an earlier broker is not mistaken for one of this broker.
topic_map::topic_map(duration lease, topic_map_limits limits)
    : lease_(lease), limits_(limits), changes_(limits.gone), last_number_(wire::id::random().hi >> 1) {}

topic_map::~topic_map() {
  while (leaving_) leaving_ = std::move(leaving_->next);  // a loop, because recursion might be too deep
}

topic_map::done topic_map::hello(routing from, const peer& by, const wire::hello& who, time now) {
  const auto known = participants_.find(who.participant);
  if (known != participants_.end() && !may_move(*known->second, by, who) &&
      (known->second->route != from || !same_process(known->second->hello, who))) {
    return refused(
        wire::error_code::id_taken,
        "another session has this participant id: draw a new one (a child of fork() needs an id of its own)");
  }
  participant* const before = find(from);
  if (before != nullptr && (known == participants_.end() || before != known->second.get())) {
    retire(*before);
    clean_up(now, entries_at_once);
  }
  if (known != participants_.end()) {
    participant& self = *known->second;
    auto introduced = who;
    by_route_.try_emplace(from, &self);
    if (self.route && self.route != from) by_route_.erase(*self.route);
    self.route = from;
    self.hello = std::move(introduced);
    changes_.changed(self.change);
    touch(self, now);
    return wire::ack{};
  }
  client& own = clients_.of(by);
  if (auto space =
          room("participants", participants_.size() + leaving_count_, limits_.participants, own, own.participants);
      !space) {
    clients_.drop_if_empty(own);
    return space;
  }
  try {
    auto made = std::make_unique<participant>();
    made->number = ++last_number_;
    made->hello = who;
    made->way = by.way;
    made->uid = by.uid;
    made->by = &own;
    made->route = from;
    made->expires = now + lease_;
    std::list<participant*> age{made.get()};
    const auto route = by_route_.try_emplace(from, made.get()).first;
    std::optional<change_log::handle> change;
    try {
      change = changes_.add({.participant = &made->hello, .shown = {made->number, 0}});
      made->age = age.begin();
      made->change = *change;
      participants_.emplace(who.participant, std::move(made));
    } catch (...) {
      if (change) changes_.forget(*change);
      by_route_.erase(route);
      throw;
    }
    by_age_.splice(by_age_.end(), age);
    ++own.participants;
  } catch (...) {
    clients_.drop_if_empty(own);
    throw;
  }
  return wire::ack{};
}

bool topic_map::may_move(const participant& session, const peer& by, const wire::hello& who) {
  const bool same_user =
      by.way != peer::via::ipc || session.way != peer::via::ipc || by.uid == session.uid || by.uid == 0;
  return who.secret && same_secret(session.hello.secret, who.secret) && same_process(session.hello, who) && same_user;
}

void topic_map::closed(routing from) noexcept {
  const auto known = by_route_.find(from);
  if (known == by_route_.end()) return;
  known->second->route.reset();
  by_route_.erase(known);
}

void topic_map::touch(participant& session, time now) noexcept {
  session.expires = now + lease_;
  by_age_.splice(by_age_.end(), by_age_, session.age);
}

bool topic_map::renew(routing from, time now) noexcept {
  participant* const self = find(from);
  if (self != nullptr) touch(*self, now);
  return self != nullptr;
}

topic_map::registered topic_map::register_topic(routing from, const wire::register_topic& what, time now) {
  participant* const self = find(from);
  if (self == nullptr) return unknown_participant();
  const auto known = self->publications.find(what.publication);
  const bool fresh_id = known == self->publications.end();
  if (!fresh_id && known->second->first != what.topic) {
    return refused(wire::error_code::bad_request, "the publication id " + what.publication.hex() +
                                                      " is that of topic \"" + known->second->first + "\"");
  }
  auto at = topics_.find(what.topic);
  const publication* const before = at == topics_.end() ? nullptr : live(at->second);
  if (before != nullptr && before->holder != self) {
    const auto& holder = before->holder->hello;
    return held{holder.participant, holder, refusal(at)};
  }
  if (at == topics_.end()) {
    if (auto space = room_for_topic(*self); !space) return space.error();
  } else if (before == nullptr && self->publications.size() >= limits_.topics_each) {
    return room("topics", 0, 1, *self->by, 0, self->publications.size(), limits_.topics_each).error();
  }
  const bool has_schema = what.type && !what.type->schema.empty();
  const auto hash = has_schema ? wire::type_hash(*what.type) : 0;
  if (auto checked = check_description(what, hash, *self, before == nullptr ? 0 : before->text_bytes); !checked)
    return checked.error();

  // Does all allocations first.
  publication fresh{what.publication, self, what.endpoints, what.type, false, what.keep_last, text_bytes_of(what), {}};
  if (at == topics_.end()) at = entry(what.topic, *self);
  try {
    self->publications.try_emplace(what.publication, at);
    if (has_schema) {
      fresh.type->hash = hash;
      schemas_.claim(fresh.type->hash, fresh.type->schema, *self->by);
      fresh.has_schema = true;
      fresh.type->schema.clear();
      fresh.type->schema.shrink_to_fit();
    }
  } catch (...) {
    if (fresh_id) self->publications.erase(what.publication);
    unlinked(at);
    throw;
  }
  auto& slot = at->second.publisher;
  const bool same = before != nullptr && before->id == what.publication;
  const bool moved = !same || before->endpoints != what.endpoints;
  const bool differs = moved || before->keep_last != fresh.keep_last || before->type != fresh.type;
  if (same) fresh.counters = std::move(slot->counters);
  if (slot) {
    release(*slot);
    if (!same) slot->holder->publications.erase(slot->id);
  }
  slot = std::move(fresh);
  text_bytes_ += slot->text_bytes;
  self->by->description_bytes += slot->text_bytes;
  if (differs) changes_.changed(at->second.change);
  unlinked(at);  // the replaced one may have been the owner's
  if (moved) notify(at, now);
  return state_of(at);
}

topic_map::done topic_map::unregister_topic(routing from, const wire::unregister_topic& what, time now) {
  participant* const self = find(from);
  if (self == nullptr) return unknown_participant();
  const auto mine = self->publications.find(what.publication);
  if (mine == self->publications.end() || mine->second->first != what.topic) return wire::ack{};  // done before
  const auto at = mine->second;
  drop_publication(at);
  notify(at, now);
  unlinked(at);
  return wire::ack{};
}

topic_map::requested topic_map::request_topic(routing from, const wire::request_topic& what) {
  participant* const self = find(from);
  if (self == nullptr) return unknown_participant();
  const auto known = self->subscriptions.find(what.subscription);
  if (known != self->subscriptions.end()) {
    const auto& [at, shown] = known->second;
    if (at->first != what.topic) {
      return refused(wire::error_code::bad_request, "this subscription id is that of topic \"" + at->first + "\"");
    }
    at->second.subscriptions.at(shown).max_age_ms = what.max_age_ms;
    return state_of(at);
  }
  if (auto space = room("subscriptions", subscription_count_, limits_.subscriptions, *self->by, self->by->subscriptions,
                        self->subscriptions.size(), limits_.subscriptions_each);
      !space) {
    return space.error();
  }
  auto at = topics_.find(what.topic);
  if (at == topics_.end()) {
    if (auto space = room_for_topic(*self); !space) return space.error();
    at = entry(what.topic, *self);
  }
  const wire::id shown{self->number, self->last_subscription + 1};
  try {
    at->second.subscriptions.try_emplace(shown, subscription{self, what.max_age_ms, {}});
    self->subscriptions.try_emplace(what.subscription, requested_topic{at, shown});
  } catch (...) {
    at->second.subscriptions.erase(shown);
    unlinked(at);
    throw;
  }
  ++self->last_subscription;
  ++self->by->subscriptions;
  ++subscription_count_;
  changes_.changed(at->second.change);
  return state_of(at);
}

topic_map::done topic_map::release_topic(routing from, const wire::release_topic& what) {
  participant* const self = find(from);
  if (self == nullptr) return unknown_participant();
  const auto mine = self->subscriptions.find(what.subscription);
  if (mine == self->subscriptions.end() || mine->second.at->first != what.topic) return wire::ack{};  // done before
  drop_subscription(*self, mine);
  return wire::ack{};
}

topic_map::done topic_map::heartbeat(routing from, const wire::heartbeat& counters, time now) {
  participant* const self = find(from);
  if (self == nullptr) return unknown_participant();
  touch(*self, now);
  // Counters of something unregistered a moment ago are no error.
  for (const auto& one : counters.publications) {
    const auto mine = self->publications.find(one.publication);
    if (mine == self->publications.end()) continue;
    auto& kept = mine->second->second.publisher->counters;
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

void topic_map::goodbye(routing from, time now) noexcept {
  participant* const self = find(from);
  if (self == nullptr) return;
  retire(*self);
  clean_up(now, entries_at_once);
}

void topic_map::remove(const wire::id& who, time now) noexcept {
  retire(who);
  clean_up(now, entries_at_once);
}

void topic_map::retire(const wire::id& who) noexcept {
  const auto known = participants_.find(who);
  if (known != participants_.end()) retire(*known->second);
}

std::size_t topic_map::expire(time now, std::size_t most, const std::function<bool(routing)>& unread) noexcept {
  std::size_t late = 0;
  for (std::size_t n = 0; n < most && any_late(now); ++n) {
    participant& session = *by_age_.front();
    if (unread && session.route && unread(*session.route)) {
      touch(session, now);
    } else {
      retire(session);
      ++late;
    }
  }
  if (late > 0) clean_up(now, entries_at_once);
  return late;
}

void topic_map::renew_all(time now) noexcept {
  for (participant* const each : by_age_) each->expires = now + lease_;
}

// From here on no one knows it. clean_up() removes the rest.
void topic_map::retire(participant& session) noexcept {
  if (session.route) by_route_.erase(*session.route);
  session.route.reset();
  session.leaving = true;
  changes_.gone(session.change, {});
  by_age_.erase(session.age);
  const auto known = participants_.find(session.hello.participant);
  auto leaving = std::move(known->second);
  participants_.erase(known);
  leaving->next = std::move(leaving_);
  leaving_ = std::move(leaving);
  ++leaving_count_;
}

void topic_map::clean_up(time now, std::size_t most) noexcept {
  while (leaving_ && most > 0) {
    participant& gone = *leaving_;
    for (; most > 0 && !gone.subscriptions.empty(); --most) drop_subscription(gone, gone.subscriptions.begin());
    for (; most > 0 && !gone.publications.empty(); --most) {
      const auto at = gone.publications.begin()->second;
      drop_publication(at);
      notify(at, now);
      unlinked(at);
    }
    if (!gone.subscriptions.empty() || !gone.publications.empty()) return;
    --gone.by->participants;
    clients_.drop_if_empty(*gone.by);
    leaving_ = std::move(gone.next);
    --leaving_count_;
    if (most > 0) --most;
  }
}

std::vector<topic_map::participant_view> topic_map::participants_after(const wire::id& after, std::size_t most) const {
  std::vector<participant_view> page;
  page.reserve(std::min(most, participants_.size()));
  for (auto at = participants_.upper_bound(after); at != participants_.end() && page.size() < most; ++at) {
    page.push_back({at->first, at->second->hello});
  }
  return page;
}

std::optional<topic_map::routing> topic_map::route_of(const wire::id& who) const {
  const auto known = participants_.find(who);
  return known == participants_.end() ? std::nullopt : known->second->route;
}

std::optional<wire::id> topic_map::participant_at(routing from) const {
  const participant* const known = find(from);
  if (known == nullptr) return std::nullopt;
  return known->hello.participant;
}

wire::id topic_map::shown_id_of(const wire::id& who) const {
  const auto known = participants_.find(who);
  return known == participants_.end() ? wire::id{} : wire::id{known->second->number, 0};
}

topic_map::participant* topic_map::find(routing from) const {
  const auto known = by_route_.find(from);
  return known == by_route_.end() ? nullptr : known->second;
}

topic_map::done topic_map::room_for_topic(const participant& self) const {
  return room("topics", topics_.size(), limits_.topics, *self.by, self.by->topics,
              std::max(self.owned_topics, self.publications.size()), limits_.topics_each);
}

// The hash stands for the schema, so that no program has to send or compare it. Two schemas under one hash would make
// readers misinterpret samples.
topic_map::done topic_map::check_description(const wire::register_topic& what, std::uint64_t hash,
                                             const participant& self, std::size_t replaced) const {
  schema_store::cost cost;
  if (what.type && !what.type->schema.empty()) {
    if ((what.type->hash != 0 && what.type->hash != hash) || schemas_.contradicts(hash, what.type->schema)) {
      return refused(wire::error_code::bad_request, "topic \"" + what.topic + "\": the hash of type \"" +
                                                        what.type->name + "\" is " + hash_text(hash) + ", not " +
                                                        hash_text(what.type->hash) +
                                                        ": compute it as schemas/PROTOCOL.md says, or leave it 0");
    }
    cost = schemas_.cost_of(hash, what.type->schema.size(), *self.by);
  }
  const std::size_t text = text_bytes_of(what);
  const auto with = [&](std::size_t used, std::size_t more) { return used + more + text - replaced; };
  const std::size_t all = with(description_bytes(), cost.total);
  const std::size_t own = with(self.by->description_bytes, cost.of_client);
  // room() covers one more; this covers all of it.
  return room("bytes of type descriptions and endpoints", all == 0 ? 0 : all - 1, limits_.schema_bytes, *self.by,
              own == 0 ? 0 : own - 1);
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
  const bool unused = !of.publisher && of.subscriptions.empty();
  if (!unused && linked(of, *of.owner)) return;
  --of.owner->owned_topics;
  --of.owner->by->topics;
  if (unused) {
    if (of.idle.empty()) dequeue(at);
    const auto change = of.change;
    changes_.gone(change, std::move(topics_.extract(at).key()));
    return;
  }
  of.owner = of.publisher ? of.publisher->holder : of.subscriptions.begin()->second.holder;
  ++of.owner->owned_topics;
  ++of.owner->by->topics;
}

bool topic_map::linked(const topic& to, const participant& who) {
  if (to.publisher && to.publisher->holder == &who) return true;
  const auto first = to.subscriptions.lower_bound({who.number, 0});
  return first != to.subscriptions.end() && first->first.hi == who.number;
}

// Nothing: there is no publisher, or it has left.
const topic_map::publication* topic_map::live(const topic& of) {
  return of.publisher && !of.publisher->holder->leaving ? &*of.publisher : nullptr;
}

void topic_map::release(const publication& gone) noexcept {
  participant& holder = *gone.holder;
  if (gone.has_schema) schemas_.release(gone.type->hash, *holder.by);
  text_bytes_ -= gone.text_bytes;
  holder.by->description_bytes -= gone.text_bytes;
}

void topic_map::drop_publication(topic_table::iterator at) noexcept {
  auto& slot = at->second.publisher;
  release(*slot);
  slot->holder->publications.erase(slot->id);
  slot.reset();
  changes_.changed(at->second.change);
}

void topic_map::drop_subscription(participant& of, requested_table::iterator which) noexcept {
  const auto at = which->second.at;
  at->second.subscriptions.erase(which->second.shown);
  of.subscriptions.erase(which);
  --of.by->subscriptions;
  --subscription_count_;
  changes_.changed(at->second.change);
  unlinked(at);
}

std::string topic_map::refusal(topic_table::const_iterator at) {
  return "topic \"" + at->first + "\" is published by " + describe_process(at->second.publisher->holder->hello);
}

}  // namespace orc
