// Which participants there are: how they come, stay and go.
#include <algorithm>
#include <memory>
#include <utility>

#include "broker/map/table_room.h"
#include "broker/map/topic_map.h"

namespace orc {

topic_map::done topic_map::hello(routing from, const peer& by, const wire::hello& who, time now) {
  table::participant* const known = leases_.of(who.participant);
  if (known != nullptr && !leases::may_move(*known, from, by, who)) {
    return wire::error{
        wire::error_code::id_taken,
        "another session has this participant id: draw a new one (a child of fork() needs an id of its own)"};
  }
  if (table::participant* const before = leases_.at(from); before != nullptr && before != known) {
    retire(*before);
    clean_up(now, entries_at_once);
  }
  if (known != nullptr) {
    leases_.move(*known, from, who, now);
    table_.changes.changed(known->change);
    return wire::ack{};
  }
  client& own = table_.clients.of(by);
  if (auto space = room("participants", participant_count() + departures_.count(), table_.limits.participants, own,
                        own.participants);
      !space) {
    table_.clients.drop_if_empty(own);
    return space;
  }
  try {
    auto made = std::make_unique<table::participant>(own);
    made->number = table_.next_number();
    made->hello = who;
    made->way = by.way;
    made->uid = by.uid;
    made->pid = by.way == peer::via::ipc ? by.pid : 0;
    const auto change = table_.changes.add({.participant = &made->hello, .shown = {made->number, 0}});
    made->change = change;
    try {
      leases_.add(std::move(made), from, now);
    } catch (...) {
      table_.changes.forget(change);
      throw;
    }
  } catch (...) {
    table_.clients.drop_if_empty(own);
    throw;
  }
  ++own.participants;
  return wire::ack{};
}

bool topic_map::renew(routing from, time now) noexcept {
  table::participant* const self = leases_.at(from);
  if (self != nullptr) leases_.renew(*self, now);
  return self != nullptr;
}

void topic_map::goodbye(routing from, time now) noexcept {
  table::participant* const self = leases_.at(from);
  if (self == nullptr) return;
  retire(*self);
  clean_up(now, entries_at_once);
}

void topic_map::remove(const wire::id& who, time now) noexcept {
  retire(who);
  clean_up(now, entries_at_once);
}

void topic_map::retire(const wire::id& who) noexcept {
  if (table::participant* const known = leases_.of(who)) retire(*known);
}

std::size_t topic_map::expire(time now, std::size_t most, const std::function<bool(routing)>& unread) noexcept {
  std::size_t late = 0;
  for (std::size_t n = 0; n < most && any_late(now); ++n) {
    table::participant& session = leases_.next_late();
    if (unread && session.route && unread(*session.route)) {
      leases_.renew(session, now);
    } else {
      retire(session);
      ++late;
    }
  }
  if (late > 0) clean_up(now, entries_at_once);
  table_.types.drop_stalled(now, most);
  return late;
}

void topic_map::retire(table::participant& session) noexcept {
  table_.changes.gone(session.change, {});
  departures_.add(leases_.take(session));
}

void topic_map::peer_gone(peer_reports::peer_key which, time now) noexcept {
  peers_.gone(which);
  clean_up(now, entries_at_once);
}

void topic_map::clean_up(time now, std::size_t most) noexcept {
  peers_.clean_up(now, most);
  departures_.clean_up(now, most);
}

std::vector<topic_map::participant_view> topic_map::participants_after(const wire::id& after, std::size_t most) const {
  const auto& all = leases_.all();
  std::vector<participant_view> page;
  page.reserve(std::min(most, all.size()));
  for (auto at = all.upper_bound(after); at != all.end() && page.size() < most; ++at) {
    page.push_back({at->first, at->second->hello});
  }
  return page;
}

std::optional<topic_map::routing> topic_map::route_of(const wire::id& who) const {
  const table::participant* const known = leases_.of(who);
  return known == nullptr ? std::nullopt : known->route;
}

std::optional<wire::id> topic_map::participant_at(routing from) const {
  const table::participant* const known = leases_.at(from);
  if (known == nullptr) return std::nullopt;
  return known->hello.participant;
}

wire::id topic_map::shown_id_of(const wire::id& who) const {
  const table::participant* const known = leases_.of(who);
  return known == nullptr ? wire::id{} : wire::id{known->number, 0};
}

}  // namespace orc
