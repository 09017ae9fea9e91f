#include "topic_map.h"

#include <algorithm>
#include <utility>

namespace orc {
namespace {

wire::error error(wire::error_code code, std::string text) { return {code, std::move(text)}; }

wire::error unknown_participant() {
  return error(wire::error_code::unknown_participant, "this connection has not said Hello, or its lease ran out");
}

wire::error full(const char* what, std::size_t limit) {
  return error(wire::error_code::limit,
               "the broker keeps no more than " + std::to_string(limit) + " " + what + ": see orc-broker --help");
}

std::string describe_process(const wire::hello& who) {
  return (who.name.empty() ? "a participant" : who.name) + " (pid " + std::to_string(who.pid) + " on host " + who.host +
         ")";
}

bool same_process(const wire::hello& a, const wire::hello& b) {
  return a.host == b.host && a.pid == b.pid && a.start_time == b.start_time;
}

}  // namespace

topic_map::topic_map(duration lease, topic_map_limits limits) : lease_(lease), limits_(limits) {}

topic_map::done topic_map::hello(const routing& from, const wire::hello& who, time now, events& out) {
  auto known = participants_.find(who.participant);
  if (known != participants_.end() && !same_process(known->second.hello, who)) {
    return error(wire::error_code::bad_request, "the participant id " + who.participant.hex() + " belongs to " +
                                                    describe_process(known->second.hello) +
                                                    ": after fork() a child needs an id of its own");
  }
  if (participant* before = find(from); before != nullptr && before->hello.participant != who.participant) {
    remove(before->hello.participant, out);
  }
  if (known == participants_.end()) {
    if (participants_.size() >= limits_.participants) return full("participants", limits_.participants);
    known = participants_.try_emplace(who.participant).first;
  } else {
    by_route_.erase(known->second.route);
  }
  participant& self = known->second;
  self.hello = who;
  self.route = from;
  self.expires = now + lease_;
  by_route_[from] = &self;
  return std::nullopt;
}

bool topic_map::renew(const routing& from, time now) {
  participant* self = find(from);
  if (self != nullptr) self->expires = now + lease_;
  return self != nullptr;
}

topic_map::registered topic_map::register_topic(const routing& from, const wire::register_topic& what, events& out) {
  participant* self = find(from);
  if (self == nullptr) return unknown_participant();
  if (const auto other = self->publications.find(what.publication);
      other != self->publications.end() && other->second->first != what.topic) {
    return error(wire::error_code::bad_request,
                 "the publication id " + what.publication.hex() + " is that of topic \"" + other->second->first + "\"");
  }
  auto at = topics_.find(what.topic);
  if (at != topics_.end() && at->second.publisher && at->second.publisher->holder != self) {
    const auto& holder = at->second.publisher->holder->hello;
    return held{holder.participant, holder, refusal(at)};
  }
  if (at == topics_.end() && topics_.size() >= limits_.topics) return full("topics", limits_.topics);
  if (auto wrong = check_type(what)) return *wrong;

  if (at == topics_.end()) at = entry(what.topic);
  auto& slot = at->second.publisher;
  const bool same = slot && slot->id == what.publication;
  const bool moved = !same || slot->endpoints != what.endpoints;
  auto counters = same ? slot->counters : std::nullopt;
  const auto counted_at = same ? slot->counted_at : time{};
  auto type = what.type;
  if (type) keep_schema(*type);  // before the old one is let go: it may be the same
  drop_publication(at);
  slot = publication{what.publication, self, what.endpoints, std::move(type), counters, counted_at};
  self->publications[what.publication] = at;
  if (moved) notify(at, out);
  return state_of(at);
}

topic_map::done topic_map::unregister_topic(const routing& from, const wire::unregister_topic& what, events& out) {
  participant* self = find(from);
  if (self == nullptr) return unknown_participant();
  const auto mine = self->publications.find(what.publication);
  if (mine == self->publications.end() || mine->second->first != what.topic) return std::nullopt;  // done before
  const auto at = mine->second;
  drop_publication(at);
  notify(at, out);
  erase_if_unused(at);
  return std::nullopt;
}

topic_map::requested topic_map::request_topic(const routing& from, const wire::request_topic& what) {
  participant* self = find(from);
  if (self == nullptr) return unknown_participant();
  const auto other = self->subscriptions.find(what.subscription);
  if (other != self->subscriptions.end()) {
    if (other->second->first == what.topic) return state_of(other->second);
    return error(wire::error_code::bad_request, "the subscription id " + what.subscription.hex() +
                                                    " is that of topic \"" + other->second->first + "\"");
  }
  if (subscription_count_ >= limits_.subscriptions) return full("subscriptions", limits_.subscriptions);
  auto at = topics_.find(what.topic);
  if (at == topics_.end()) {
    if (topics_.size() >= limits_.topics) return full("topics", limits_.topics);
    at = entry(what.topic);
  }
  const auto [slot, added] = at->second.subscriptions.try_emplace(what.subscription);
  if (!added) {
    return error(wire::error_code::bad_request,
                 "the subscription id " + what.subscription.hex() + " is that of another participant");
  }
  slot->second.holder = self;
  self->subscriptions[what.subscription] = at;
  ++subscription_count_;
  return state_of(at);
}

topic_map::done topic_map::release_topic(const routing& from, const wire::release_topic& what) {
  participant* self = find(from);
  if (self == nullptr) return unknown_participant();
  const auto mine = self->subscriptions.find(what.subscription);
  if (mine == self->subscriptions.end() || mine->second->first != what.topic) return std::nullopt;  // done before
  const auto at = mine->second;
  at->second.subscriptions.erase(what.subscription);
  self->subscriptions.erase(mine);
  --subscription_count_;
  erase_if_unused(at);
  return std::nullopt;
}

topic_map::done topic_map::heartbeat(const routing& from, const wire::heartbeat& counters, time now) {
  participant* self = find(from);
  if (self == nullptr) return unknown_participant();
  self->expires = now + lease_;
  // Counters of something unregistered a moment ago are no error.
  for (const auto& one : counters.publications) {
    const auto mine = self->publications.find(one.publication);
    if (mine == self->publications.end()) continue;
    auto& publisher = *mine->second->second.publisher;
    publisher.counters = one;
    publisher.counted_at = now;
  }
  for (const auto& one : counters.subscriptions) {
    const auto mine = self->subscriptions.find(one.subscription);
    if (mine == self->subscriptions.end()) continue;
    auto& reader = mine->second->second.subscriptions.at(one.subscription);
    reader.counters = one;
    reader.counted_at = now;
  }
  return std::nullopt;
}

void topic_map::goodbye(const routing& from, events& out) {
  if (const participant* self = find(from)) remove(wire::id(self->hello.participant), out);
}

void topic_map::remove(const wire::id& who, events& out) {
  const auto known = participants_.find(who);
  if (known == participants_.end()) return;
  participant& self = known->second;
  // Its subscriptions first, so that it is not told about its own publications.
  for (const auto& [id, at] : self.subscriptions) {
    at->second.subscriptions.erase(id);
    --subscription_count_;
    erase_if_unused(at);
  }
  while (!self.publications.empty()) {
    const auto at = self.publications.begin()->second;
    drop_publication(at);
    notify(at, out);
    erase_if_unused(at);
  }
  by_route_.erase(self.route);
  participants_.erase(known);
}

std::size_t topic_map::expire(time now, events& out) {
  std::vector<wire::id> late;
  for (const auto& [id, self] : participants_) {
    if (self.expires <= now) late.push_back(id);
  }
  for (const auto& id : late) remove(id, out);
  return late.size();
}

void topic_map::renew_all(time now) {
  for (auto& [id, self] : participants_) self.expires = now + lease_;
}

std::vector<topic_map::participant_view> topic_map::participants() const {
  std::vector<participant_view> all;
  all.reserve(participants_.size());
  for (const auto& [id, self] : participants_) all.push_back({id, self.hello});
  return all;
}

const topic_map::routing* topic_map::route_of(const wire::id& who) const {
  const auto known = participants_.find(who);
  return known == participants_.end() ? nullptr : &known->second.route;
}

std::optional<wire::id> topic_map::participant_at(const routing& from) const {
  const auto known = by_route_.find(from);
  if (known == by_route_.end()) return std::nullopt;
  return known->second->hello.participant;
}

topic_map::participant* topic_map::find(const routing& from) {
  const auto known = by_route_.find(from);
  return known == by_route_.end() ? nullptr : known->second;
}

topic_map::topics::iterator topic_map::entry(const std::string& name) { return topics_.try_emplace(name).first; }

void topic_map::erase_if_unused(topics::iterator at) {
  if (!at->second.publisher && at->second.subscriptions.empty()) topics_.erase(at);
}

void topic_map::drop_publication(topics::iterator at) {
  auto& slot = at->second.publisher;
  if (!slot) return;
  if (slot->type) release_schema(*slot->type);
  slot->holder->publications.erase(slot->id);
  slot.reset();
}

// The hash stands for the schema, so that nobody has to send or compare it: two schemas under one hash would make
// readers misinterpret samples.
topic_map::done topic_map::check_type(const wire::register_topic& what) const {
  if (!what.type || what.type->schema.empty()) return std::nullopt;
  const auto kept = what.type->hash == 0 ? schemas_.end() : schemas_.find(what.type->hash);
  if (kept != schemas_.end() && !kept->second.bytes.empty()) {
    if (kept->second.bytes == what.type->schema) return std::nullopt;
    return error(wire::error_code::bad_request,
                 "topic \"" + what.topic + "\": another schema is registered under the hash " +
                     std::to_string(what.type->hash) + " of type \"" + what.type->name + "\"");
  }
  if (schema_bytes_ + what.type->schema.size() > limits_.schema_bytes) {
    return full("bytes of schemas", limits_.schema_bytes);
  }
  return std::nullopt;
}

void topic_map::keep_schema(wire::type_description& type) {
  if (type.hash == 0) {
    schema_bytes_ += type.schema.size();
    return;
  }
  auto& kept = schemas_[type.hash];
  ++kept.users;
  if (kept.bytes.empty() && !type.schema.empty()) {
    schema_bytes_ += type.schema.size();
    kept.bytes = std::move(type.schema);
  }
  type.schema.clear();
}

void topic_map::release_schema(const wire::type_description& type) {
  if (type.hash == 0) {
    schema_bytes_ -= type.schema.size();
    return;
  }
  const auto kept = schemas_.find(type.hash);
  if (--kept->second.users > 0) return;
  schema_bytes_ -= kept->second.bytes.size();
  schemas_.erase(kept);
}

void topic_map::notify(topics::iterator at, events& out) {
  if (at->second.subscriptions.empty()) return;
  event change{{}, state_of(at)};
  for (const auto& [id, reader] : at->second.subscriptions) change.to.push_back(reader.holder->route);
  std::sort(change.to.begin(), change.to.end());
  change.to.erase(std::unique(change.to.begin(), change.to.end()), change.to.end());
  out.push_back(std::move(change));
}

std::string topic_map::refusal(topics::const_iterator at) {
  return "topic \"" + at->first + "\" is published by " + describe_process(at->second.publisher->holder->hello);
}

}  // namespace orc
