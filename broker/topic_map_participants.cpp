// Which participants there are: how they come, stay and go.
#include <algorithm>
#include <utility>

#include "table_room.h"
#include "topic_map.h"

namespace orc {
namespace {

bool same_process(const wire::hello& a, const wire::hello& b) {
  return a.host == b.host && a.pid == b.pid && a.start_time == b.start_time;
}

// Takes the same time wherever they differ.
bool same_secret(const wire::id& a, const wire::id& b) { return ((a.hi ^ b.hi) | (a.lo ^ b.lo)) == 0; }

}  // namespace

topic_map::done topic_map::hello(routing from, const peer& by, const wire::hello& who, time now) {
  const auto known = participants_.find(who.participant);
  if (known != participants_.end() && !may_move(*known->second, by, who) &&
      (known->second->route != from || !same_process(known->second->hello, who))) {
    return wire::error{
        wire::error_code::id_taken,
        "another session has this participant id: draw a new one (a child of fork() needs an id of its own)"};
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
    auto made = std::make_unique<participant>(own);
    made->number = ++last_number_;
    made->hello = who;
    made->way = by.way;
    made->uid = by.uid;
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
  types_.drop_stalled(now, most);
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
  types_.drop_upload(session.types);
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
  for (auto& [key, each] : peers_) {
    if (sweeping_ == 0) break;
    sweep(*each, now, most);
  }
  while (leaving_ && most > 0) {
    participant& gone = *leaving_;
    for (; most > 0 && !gone.subscriptions.empty(); --most) drop_subscription(gone, gone.subscriptions.begin());
    for (; most > 0 && !gone.publications.empty(); --most) {
      const auto [id, at] = *gone.publications.begin();
      drop_publication(at, id);
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

}  // namespace orc
