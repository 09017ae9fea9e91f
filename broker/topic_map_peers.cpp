// What peer brokers report, and which of two publications wins.
#include <algorithm>
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include "endpoint_rules.h"
#include "table_room.h"
#include "topic_map.h"

namespace orc {
namespace {

constexpr std::chrono::hours oldest{24 * 365 * 10};  // a peer's number must not overflow a time

std::size_t text_bytes_of(const wire::publication_info& what) {
  std::size_t bytes = 0;
  for (const auto& each : what.endpoints) bytes += each.address.size() + topic_map::bytes_per_endpoint;
  return bytes + what.participant_name.size() + what.host.size();
}

}  // namespace

// ---- peers ----

void topic_map::peer_up(peer_key which, const peer_facts& what) {
  const auto take = [&](participant& peer) {
    peer.hello.host = what.host_name;
    peer.same_host = what.same_host;
    peer.decided_here = what.decided_here;
    peer.stale = false;
  };
  if (const auto known = peers_.find(which); known != peers_.end()) return take(*known->second);
  const peer as{
      .way = what.discovered ? peer::via::discovered : peer::via::broker, .directory = {}, .address = what.endpoint};
  client& own = clients_.of(as);
  try {
    auto made = std::make_unique<participant>(own);
    made->number = ++last_number_;
    made->way = as.way;
    made->is_peer = true;
    take(*made);
    peers_.emplace(which, std::move(made));
  } catch (...) {
    clients_.drop_if_empty(own);
    throw;
  }
  ++own.participants;
}

void topic_map::peer_stale(peer_key which) noexcept {
  const auto known = peers_.find(which);
  if (known == peers_.end() || known->second->stale) return;
  known->second->stale = true;
  // Perhaps its publications: a search of all takes long.
  for (const auto& [key, each] : peers_) each->misses_any = each->misses_any || !each->left_out.empty();
}

bool topic_map::misses_any(peer_key which) const noexcept {
  const auto known = peers_.find(which);
  return known != peers_.end() && known->second->misses_any;
}

topic_map::table_use topic_map::open_to(const participant& self, std::size_t all, std::size_t limit,
                                        std::size_t client::*of) const {
  if (!self.by->discovered) return {all, limit};
  const auto used = clients_.used_by_discovered(of);
  return {used, client_table::share(limit, all > used ? all - used : 0)};
}

void topic_map::leave_out(participant& peer, const wire::id& which) {
  if (peer.left_out.size() < most_left_out) peer.left_out.insert(which);
}

void topic_map::missed(const wire::id& which) noexcept {
  for (const auto& [key, each] : peers_) each->misses_any = each->misses_any || each->left_out.contains(which);
}

void topic_map::peer_gone(peer_key which, time now) noexcept {
  const auto known = peers_.find(which);
  if (known == peers_.end()) return;
  auto gone = std::move(known->second);
  peers_.erase(known);
  if (gone->swept) --sweeping_;
  gone->leaving = true;
  types_.drop_upload(gone->types);
  gone->next = std::move(leaving_);
  leaving_ = std::move(gone);
  ++leaving_count_;
  clean_up(now, entries_at_once);
}

void topic_map::begin_report(peer_key which) noexcept {
  participant& self = *peers_.at(which);
  if (self.swept) --sweeping_;
  self.swept.reset();
  self.left_out.clear();
  self.misses_any = false;
  ++self.report;
}

void topic_map::end_report(peer_key which) noexcept {
  participant& self = *peers_.at(which);
  if (self.swept) return;
  self.swept = wire::id{};
  ++sweeping_;
}

std::size_t topic_map::topics_of(peer_key which) const noexcept {
  const auto known = peers_.find(which);
  return known == peers_.end() ? 0 : known->second->publications.size();
}

void topic_map::sweep(participant& peer, time now, std::size_t& most) noexcept {
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
    drop_publication(at, id);
    notify(at, now);
    unlinked(at);
  }
}

// ---- imports ----

detail::expected<topic_map::imported, wire::error> topic_map::import(peer_key which, wire::topic_state&& what,
                                                                     time now) {
  participant& self = *peers_.at(which);
  imported news;
  if (what.publication) what.publications.push_back(*std::move(what.publication));
  auto at = topics_.find(what.topic);
  bool moved = false;
  // Whatever stops it halfway: what changed is reported, and no participant that left the topic stays its owner.
  const auto settle = [&]() noexcept {
    if (at == topics_.end()) return;
    if (moved || !news.lost.empty()) {
      changes_.changed(at->second.change);
      notify(at, now);
    }
    unlinked(at);
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

topic_map::done topic_map::merge(topic_table::iterator& at, participant& self, wire::topic_state& what, imported& into,
                                 bool& moved, time now) {
  if (!what.shared && what.publications.size() > 1)
    return wire::error{wire::error_code::bad_request,
                       "topic \"" + what.topic + "\" has several publications and is not shared"};
  // A new run of the peer knows nothing of what was decided before.
  const bool anew = at != topics_.end() &&
                    std::any_of(at->second.publishers.begin(), at->second.publishers.end(), [&](const auto& each) {
                      return each.second.holder == &self && each.second.report != self.report;
                    });
  for (auto& each : what.publications) {
    auto changed = import(at, self, what.topic, each, what.shared, into, now);
    if (!changed) return std::move(changed).error();
    moved = moved || *changed;
  }
  if (at == topics_.end()) return wire::ack{};
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
    drop_publication(at, id);
    moved = true;
  }
  if (all.size() > 1) {
    obey(at, self, what.displaced, into);
    resolve(at, self, into, moved);
    // Its displaced publications may be others now.
    if ((moved || anew) && self.decided_here && at->second.exported) exports_.changed(*at->second.exported);
  }
  return wire::ack{};
}

// Returns whether the publication is new or differs.
detail::expected<bool, wire::error> topic_map::import(topic_table::iterator& at, participant& self,
                                                      const std::string& name, wire::publication_info& info,
                                                      bool shared, imported& into, time now) {
  if (const auto known = self.publications.find(info.publication);
      known != self.publications.end() && known->second->first != name) {
    return wire::error{wire::error_code::bad_request,
                       "one publication id for topic \"" + name + "\" and \"" + known->second->first + "\""};
  }
  const publication* before = nullptr;
  if (at == topics_.end()) {
    const auto [all, limit] = open_to(self, topics_.size(), limits_.topics, &client::topics);
    if (auto space = room("topics", all, limit, *self.by, self.by->topics); !space) return std::move(space).error();
  } else if (const auto slot = at->second.publishers.find(info.publication); slot != at->second.publishers.end()) {
    if (slot->second.holder == &self) {
      before = &slot->second;
    } else if (is_live(slot->second) && !slot->second.holder->stale) {
      leave_out(self, info.publication);  // its participant has moved here, or to a third broker
      return false;
    }
  }
  const auto* const type = declared(info.type);
  const std::size_t text_bytes = text_bytes_of(info);
  if (auto checked = check_type(type, self, text_bytes, before == nullptr ? 0 : before->text_bytes); !checked)
    return in_topic(name, std::move(checked).error());
  const auto age = std::min<std::uint64_t>(info.age_ms, std::chrono::milliseconds(oldest).count());
  publication fresh{info.publication, &self,      std::move(info.endpoints), nullptr, info.keep_last,
                    shared,           text_bytes, now - duration(age),       {},      {},
                    self.report};
  // What the peer said first is the closest: its broker may have restarted since, and then does not know.
  if (before != nullptr) fresh.since = std::min(fresh.since, before->since);
  fresh.from = std::make_unique<origin>(
      origin{info.participant, std::move(info.participant_name), std::move(info.host), info.pid});
  const auto there = at == topics_.end() ? entry(name, self) : at;
  auto place = reserve(there, self, info.publication, type);  // removes a new topic when it fails
  if (!place) return in_topic(name, std::move(place).error());
  at = there;
  fresh.type = place->type;
  publication& slot = *place->slot;
  const bool differs = before == nullptr || before->endpoints != fresh.endpoints || before->type != fresh.type ||
                       before->keep_last != fresh.keep_last || before->shared != shared || *before->from != *fresh.from;
  if (slot.holder != nullptr && slot.holder != &self) slot.holder->publications.erase(slot.id);
  replace(slot, std::move(fresh));
  if (slot.type != nullptr && !slot.type->complete()) into.lacking.push_back(slot.type->reference().hash);
  return differs;
}

void topic_map::displace(topic_table::iterator at, const wire::id& loser, const publication& winner, imported& into) {
  const auto& who = at->second.publishers.at(loser).holder->hello;
  into.lost.push_back({who.participant, refusal(at, winner, {}) + ": " + who.name + " (pid " + std::to_string(who.pid) +
                                            ") here loses the name to it"});
  drop_publication(at, loser);
}

// Drops publications of this broker's participants that an older one of a peer excludes, where this broker decides. A
// publication that the peer's host does not reach stays, and excludes nothing there.
void topic_map::resolve(topic_table::iterator at, const participant& reporter, imported& into, bool news) {
  std::vector<const publication*> own;
  std::map<const participant*, const publication*> oldest_of;  // of peers that this broker decides about
  for (const auto& [id, each] : at->second.publishers) {
    if (!is_live(each)) continue;
    if (!each.from) {
      own.push_back(&each);
    } else if (each.holder->decided_here) {
      auto& oldest = oldest_of[each.holder];
      if (oldest == nullptr || is_older(each, *oldest)) oldest = &each;
    }
  }
  std::vector<const publication*> theirs;
  for (const auto& [peer, oldest] : oldest_of) theirs.push_back(oldest);
  const auto by_age = [](const auto* one, const auto* other) { return is_older(*one, *other); };
  std::sort(theirs.begin(), theirs.end(), by_age);
  std::sort(own.begin(), own.end(), by_age);
  for (const auto* const oldest : theirs) {
    const auto competes = [&](const publication* each) { return reaches(each->endpoints, *oldest->holder); };
    const auto first = std::find_if(own.begin(), own.end(), competes);
    if (first == own.end()) continue;
    const bool is_first = is_older(**first, *oldest);
    if (is_first && news && oldest->holder == &reporter && !((*first)->shared && oldest->shared))
      into.contested.push_back(refusal(at, **first, {}) + "; also " + refusal(at, *oldest, {}) +
                               ", which loses the name");
    if (is_first) continue;
    std::erase_if(own, [&](const publication* each) {
      if (!competes(each) || (oldest->shared && each->shared)) return false;
      displace(at, wire::id(each->id), *oldest, into);
      return true;
    });
  }
}

// Drops publications of this broker's participants that a peer, which decided, names.
void topic_map::obey(topic_table::iterator at, const participant& peer, const std::vector<wire::id>& losers,
                     imported& into) {
  const auto& all = at->second.publishers;
  const auto winner =
      std::find_if(all.begin(), all.end(), [&](const auto& each) { return each.second.holder == &peer; });
  if (winner == all.end()) return;
  for (const auto& id : losers) {
    const auto loser = all.find(id);
    if (loser == all.end() || loser->second.from || !is_live(loser->second)) continue;
    if (!(winner->second.shared && loser->second.shared)) displace(at, id, winner->second, into);
  }
}

const topic_map::publication* topic_map::leader(const topic& of) noexcept {
  const publication* first = nullptr;
  for (const auto& [id, each] : of.publishers) {
    if (!is_live(each)) continue;
    const bool own = each.from == nullptr;
    const bool first_is_own = first != nullptr && first->from == nullptr;
    if (first == nullptr || (own != first_is_own ? own : is_older(each, *first))) first = &each;
  }
  return first;
}

topic_map::done topic_map::add_schema_of_peer(peer_key which, const wire::schema_part& part, time now) {
  participant& self = *peers_.at(which);
  if (auto answer = types_.look_at(part, self.types)) return std::move(*answer);
  if (auto space = room_for_bytes(part.bytes.size(), part.bytes.size(), self); !space) {
    types_.drop_upload(self.types);
    return space;
  }
  return types_.add(part, self.types, now);
}

bool topic_map::peer_uses_type(peer_key which, std::uint64_t hash) const noexcept {
  const auto known = peers_.find(which);
  return known != peers_.end() && type_store::uses(hash, known->second->types);
}

}  // namespace orc
