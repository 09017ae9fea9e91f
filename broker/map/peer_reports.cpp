#include "broker/map/peer_reports.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "broker/map/endpoint_rules.h"
#include "broker/map/topic_states.h"

namespace orc {
namespace {

constexpr std::chrono::hours oldest{24 * 365 * 10};  // a peer's number must not overflow a time

std::size_t text_bytes_of(const wire::publication_info& what) {
  std::size_t bytes = 0;
  for (const auto& each : what.endpoints) bytes += each.address.size() + map_table::bytes_per_endpoint;
  return bytes + what.participant_name.size() + what.host.size();
}

}  // namespace

// ---- peers ----

void peer_reports::up(peer_key which, const peer_facts& what) {
  const auto take = [&](table::participant& peer) {
    peer.hello.host = what.host_name;
    peer.same_host = what.same_host;
    peer.decided_here = what.decided_here;
    peer.stale = false;
  };
  if (const auto known = peers_.find(which); known != peers_.end()) return take(*known->second);
  const peer as{
      .way = what.discovered ? peer::via::discovered : peer::via::broker, .directory = {}, .address = what.endpoint};
  client& own = table_.clients.of(as);
  try {
    auto made = std::make_unique<table::participant>(own);
    made->number = table_.next_number();
    made->way = as.way;
    take(*made);
    table_.omissions.join(*made);
    const auto* const joined = made.get();
    try {
      peers_.emplace(which, std::move(made));
    } catch (...) {
      table_.omissions.leave(*joined);
      throw;
    }
  } catch (...) {
    table_.clients.drop_if_empty(own);
    throw;
  }
  ++own.participants;
}

void peer_reports::stale(peer_key which) noexcept {
  const auto known = peers_.find(which);
  if (known == peers_.end() || known->second->stale) return;
  known->second->stale = true;
  table_.omissions.doubt();  // perhaps its publications: a search of all takes long
}

void peer_reports::gone(peer_key which) noexcept {
  const auto known = peers_.find(which);
  if (known == peers_.end()) return;
  auto left = std::move(known->second);
  peers_.erase(known);
  if (left->swept) --sweeping_;
  table_.omissions.leave(*left);
  departures_.add(std::move(left));
}

void peer_reports::begin_report(peer_key which) noexcept {
  table::participant& self = *peers_.at(which);
  if (self.swept) --sweeping_;
  self.swept.reset();
  table_.omissions.clear(self);
  ++self.report;
}

void peer_reports::end_report(peer_key which) noexcept {
  table::participant& self = *peers_.at(which);
  if (self.swept) return;
  self.swept = wire::id{};
  ++sweeping_;
}

std::size_t peer_reports::topics_of(peer_key which) const noexcept {
  const auto known = peers_.find(which);
  return known == peers_.end() ? 0 : known->second->publications.size();
}

bool peer_reports::misses_any(peer_key which) const noexcept {
  const auto known = peers_.find(which);
  return known != peers_.end() && table_.omissions.misses_any(*known->second);
}

bool peer_reports::uses_type(peer_key which, std::uint64_t hash) const noexcept {
  const auto known = peers_.find(which);
  return known != peers_.end() && type_store::uses(hash, known->second->types);
}

peer_reports::done peer_reports::add_schema(peer_key which, const wire::schema_part& part, time now) {
  return table_.add_schema(*peers_.at(which), part, now);
}

void peer_reports::clean_up(time now, std::size_t& most) noexcept {
  for (auto& [key, each] : peers_) {
    if (sweeping_ == 0) break;
    sweep(*each, now, most);
  }
}

void peer_reports::sweep(table::participant& peer, time now, std::size_t& most) noexcept {
  while (peer.swept && most > 0) {
    const auto next = peer.publications.upper_bound(*peer.swept);
    if (next == peer.publications.end()) {
      peer.swept.reset();
      --sweeping_;
      return;
    }
    --most;
    const auto [id, at] = *next;
    peer.swept = id;
    if (at->second.publishers.at(id).report == peer.report) continue;
    table_.drop_publication(at, id);
    table_.notify(at, now);
    table_.unlinked(at);
  }
}

// ---- imports ----

detail::expected<peer_reports::imported, wire::error> peer_reports::import(peer_key which, wire::topic_state&& what,
                                                                           time now) {
  table::participant& self = *peers_.at(which);
  imported news;
  if (what.publication) what.publications.push_back(*std::move(what.publication));
  auto at = table_.find(what.topic);
  bool moved = false;
  // Whatever stops it halfway: what changed is reported, and no participant that left the topic stays its owner.
  const auto settle = [&]() noexcept {
    if (!table_.has(at)) return;
    if (moved || !news.lost.empty()) {
      table_.changes.changed(at->second.change);
      table_.notify(at, now);
    }
    table_.unlinked(at);
  };
  try {
    auto merged = merge(at, self, what, news, moved, now);
    settle();
    if (!merged) return std::move(merged).error();
  } catch (...) {
    settle();
    throw;
  }
  return news;
}

peer_reports::done peer_reports::merge(map_table::place& at, table::participant& self, wire::topic_state& what,
                                       imported& into, bool& moved, time now) {
  if (!what.shared && what.publications.size() > 1)
    return wire::error{wire::error_code::bad_request,
                       "topic \"" + what.topic + "\" has several publications and is not shared"};
  // A new run of the peer knows nothing of what was decided before.
  const bool anew =
      table_.has(at) && std::any_of(at->second.publishers.begin(), at->second.publishers.end(), [&](const auto& each) {
        return each.second.holder == &self && each.second.report != self.report;
      });
  for (auto& each : what.publications) {
    auto changed = import(at, self, what.topic, each, what.shared, into, now);
    if (!changed) return std::move(changed).error();
    moved = moved || *changed;
  }
  if (!table_.has(at)) return wire::ack{};
  auto& all = at->second.publishers;
  const auto has = [&](const wire::id& id) {
    return std::any_of(what.publications.begin(), what.publications.end(),
                       [&](const auto& each) { return each.publication == id; });
  };
  for (auto each = all.begin(); each != all.end();) {
    const auto id = each->first;
    const bool dropped = each->second.holder == &self && !has(id);
    ++each;
    if (!dropped) continue;
    table_.drop_publication(at, id);
    moved = true;
  }
  if (all.size() > 1) {
    obey(at, self, what.displaced, into);
    resolve(at, self, into, moved);
    // Its displaced publications may be others now.
    if ((moved || anew) && self.decided_here) table_.exports().changed(at->second);
  }
  return wire::ack{};
}

// Returns whether the publication is new or differs.
detail::expected<bool, wire::error> peer_reports::import(map_table::place& at, table::participant& self,
                                                         const std::string& name, wire::publication_info& info,
                                                         bool shared, imported& into, time now) {
  if (const auto known = self.publications.find(info.publication);
      known != self.publications.end() && known->second->first != name) {
    return wire::error{wire::error_code::bad_request,
                       "one publication id for topic \"" + name + "\" and \"" + known->second->first + "\""};
  }
  const table::publication* before = nullptr;
  if (!table_.has(at)) {
    if (auto space = table_.room_for_topic_of_peer(self); !space) return std::move(space).error();
  } else if (const auto slot = at->second.publishers.find(info.publication); slot != at->second.publishers.end()) {
    if (slot->second.holder == &self) {
      before = &slot->second;
    } else if (table::is_live(slot->second) && !slot->second.holder->stale) {
      table_.omissions.add(self, info.publication);  // its participant has moved here, or to a third broker
      return false;
    }
  }
  const auto* const type = map_table::declared(info.type);
  const std::size_t text_bytes = text_bytes_of(info);
  if (auto checked = table_.check_type(type, self, text_bytes, before == nullptr ? 0 : before->text_bytes); !checked)
    return map_table::in_topic(name, std::move(checked).error());
  const auto age = std::min<std::uint64_t>(info.age_ms, std::chrono::milliseconds(oldest).count());
  table::publication fresh{info.publication, &self,      std::move(info.endpoints),  nullptr, info.keep_last,
                           shared,           text_bytes, now - table::duration(age), {},      {},
                           self.report};
  // What the peer said first is the closest: its broker may have restarted since, and then does not know.
  if (before != nullptr) fresh.since = std::min(fresh.since, before->since);
  fresh.from = std::make_unique<table::origin>(table::origin{info.participant, std::move(info.participant_name),
                                                             std::move(info.host), info.pid, std::move(info.client),
                                                             info.client_pid});
  const auto there = table_.has(at) ? at : table_.entry(name, self);
  auto place = table_.reserve(there, self, info.publication, type);  // removes a new topic when it fails
  if (!place) return map_table::in_topic(name, std::move(place).error());
  at = there;
  fresh.type = place->type;
  table::publication& slot = *place->slot;
  const bool differs = before == nullptr || before->endpoints != fresh.endpoints || before->type != fresh.type ||
                       before->keep_last != fresh.keep_last || before->shared != shared || *before->from != *fresh.from;
  table_.omits(slot, self);
  if (slot.holder != nullptr && slot.holder != &self) slot.holder->publications.erase(slot.id);
  table_.replace(slot, std::move(fresh));
  if (slot.type != nullptr && !slot.type->complete()) into.lacking.push_back(slot.type->reference().hash);
  return differs;
}

void peer_reports::displace(map_table::place at, const wire::id& loser, const table::publication& winner,
                            imported& into) {
  const auto& who = at->second.publishers.at(loser).holder->hello;
  into.lost.push_back({who.participant, table::refusal(*at, winner, {}) + ": " + who.name + " (pid " +
                                            std::to_string(who.pid) + ") here loses the name to it"});
  table_.drop_publication(at, loser);
}

// Drops publications of this broker's participants that an older one of a peer excludes, where this broker decides. A
// publication that the peer's host does not reach stays, and excludes nothing there.
void peer_reports::resolve(map_table::place at, const table::participant& reporter, imported& into, bool news) {
  std::vector<const table::publication*> own;
  std::map<const table::participant*, const table::publication*> oldest_of;  // of peers that this broker decides about
  for (const auto& [id, each] : at->second.publishers) {
    if (!table::is_live(each)) continue;
    if (!each.from) {
      own.push_back(&each);
    } else if (each.holder->decided_here) {
      auto& oldest = oldest_of[each.holder];
      if (oldest == nullptr || table::is_older(each, *oldest)) oldest = &each;
    }
  }
  std::vector<const table::publication*> theirs;
  for (const auto& [peer, oldest] : oldest_of) theirs.push_back(oldest);
  const auto by_age = [](const auto* one, const auto* other) { return table::is_older(*one, *other); };
  std::sort(theirs.begin(), theirs.end(), by_age);
  std::sort(own.begin(), own.end(), by_age);
  for (const auto* const oldest : theirs) {
    const auto competes = [&](const table::publication* each) { return reaches(each->endpoints, *oldest->holder); };
    const auto first = std::find_if(own.begin(), own.end(), competes);
    if (first == own.end()) continue;
    const bool is_first = table::is_older(**first, *oldest);
    if (is_first && news && oldest->holder == &reporter && !((*first)->shared && oldest->shared))
      into.contested.push_back(table::refusal(*at, **first, {}) + "; also " + table::refusal(*at, *oldest, {}) +
                               ", which loses the name");
    if (is_first) continue;
    std::erase_if(own, [&](const table::publication* each) {
      if (!competes(each) || (oldest->shared && each->shared)) return false;
      displace(at, wire::id(each->id), *oldest, into);
      return true;
    });
  }
}

// Drops publications of this broker's participants that a peer, which decided, names.
void peer_reports::obey(map_table::place at, const table::participant& peer, const std::vector<wire::id>& losers,
                        imported& into) {
  const auto& all = at->second.publishers;
  const auto winner =
      std::find_if(all.begin(), all.end(), [&](const auto& each) { return each.second.holder == &peer; });
  if (winner == all.end()) return;
  for (const auto& id : losers) {
    const auto loser = all.find(id);
    if (loser == all.end() || loser->second.from || !table::is_live(loser->second)) continue;
    if (!(winner->second.shared && loser->second.shared)) displace(at, id, winner->second, into);
  }
}

bool peer_reports::reaches(const std::vector<wire::endpoint>& endpoints, const table::participant& peer) {
  return std::any_of(endpoints.begin(), endpoints.end(),
                     [&](const auto& each) { return is_reachable(each, peer.same_host); });
}

}  // namespace orc
